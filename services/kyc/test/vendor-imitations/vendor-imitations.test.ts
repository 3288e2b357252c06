import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { AddResults } from "../../src/verification-provider/check-result.ts";
import { checkDidit } from "../../src/verification-provider/didit/check-didit.ts";
import { checkSumsub } from "../../src/verification-provider/sumsub/check-sumsub.ts";
import type { Outcome } from "../../src/verification-provider/verification-provider.ts";
import type { DiditOutcome } from "./didit-imitation.ts";
import { newerWorkflows, olderWorkflows } from "./didit-settings.ts";
import { aCreationForShop, knownAs, level, reference, startDidit, startSumsub, timeoutMs } from "./imitation-clients.ts";
import type { SumsubOutcome } from "./sumsub-imitation.ts";

type Didit = Awaited<ReturnType<typeof startDidit>>;
type Sumsub = Awaited<ReturnType<typeof startSumsub>>;

const accepted = <T>(outcome: Outcome<T>): T => {
  expect(outcome).toMatchObject({ kind: "accepted" });
  return (outcome as { value: T }).value;
};

/**
 * Creates an application with the vendor client. Returns the fields that kyc stores of the
 * application.
 */
async function create({ provider }: Didit | Sumsub) {
  const { providerId } = accepted(await provider.create(aCreationForShop(), timeoutMs));
  return knownAs(providerId);
}

const inReview = { status: "COMPLETED", awaitsReview: true, providerVerdict: "NEEDS_REVIEW" } as const;
const approval = { outcome: "APPROVED", reviewer: "amk_1", note: "" } as const;
const rejection = { ...approval, outcome: "REJECTED" } as const;

const readCallbacks = ({ provider, receiver }: Didit | Sumsub) =>
  receiver.received.map((callback) => provider.readCallback(callback, new Date()));

/**
 * Runs the checks of one vendor's account. Returns the name of each check with "ok" or the severity
 * of each problem.
 */
async function resultsOf(run: (add: AddResults) => Promise<void>) {
  const results: [string, string][] = [];
  await run((check, problems) => {
    if (problems.length === 0) results.push([check, "ok"]);
    for (const { severity } of problems) results.push([check, severity]);
  });
  return results;
}

describe("the Didit client", () => {
  test("the Didit client creates a session with a link, and then reads the session as CREATED", async () => {
    await using didit = await startDidit();
    const created = accepted(await didit.provider.create(aCreationForShop(), timeoutMs));
    expect(created).toMatchObject({ status: "CREATED", linkUrl: expect.stringContaining("https://verify.didit.me/fr/session/") });
    const session = didit.vendor.session(created.providerId);
    expect(session).toMatchObject({ vendorData: reference, callback: "https://shop.example/return" });
    expect(created.linkExpiresAt.getTime()).toBeLessThanOrEqual(Date.parse(session.expiresAt));
    expect(accepted(await didit.provider.get(knownAs(created.providerId), timeoutMs))).toMatchObject({
      status: "CREATED",
      verdict: undefined,
    });
    expect(didit.vendor.unexpectedRequests).toEqual([]);
  });

  test("the Didit client's `create` returns the existing session if the response to the first request was lost", async () => {
    await using didit = await startDidit();
    didit.vendor.inject({ method: "POST", path: /^\/v3\/session\/$/, lose: "response" });
    expect(await didit.provider.create(aCreationForShop(), timeoutMs)).toMatchObject({ kind: "unknown" });
    const { providerId } = accepted(await didit.provider.create(aCreationForShop(), timeoutMs));
    expect([...didit.vendor.store.all.keys()]).toEqual([providerId]);
  });

  test.each<[DiditOutcome, string, string | undefined]>([
    ["In Progress", "OPENED", undefined],
    ["In Review", "COMPLETED", "NEEDS_REVIEW"],
    ["Approved", "COMPLETED", "APPROVED"],
    ["Kyc Expired", "COMPLETED", "APPROVED"],
    ["Declined", "COMPLETED", "REJECTED"],
    ["Resubmitted", "FAILED", undefined],
    ["Expired", "EXPIRED", undefined],
    ["Abandoned", "EXPIRED", undefined],
  ])("the Didit client converts the session status %s to the status %s with the verdict %s", async (outcome, status, verdict) => {
    await using didit = await startDidit();
    const known = await create(didit);
    await didit.vendor.finish(known.providerId, outcome);
    expect(accepted(await didit.provider.get(known, timeoutMs))).toMatchObject({ status, verdict, unread: [] });
  });

  test("the Didit client's `get` returns an unknown outcome and logs an alert for the session status `Awaiting User`", async () => {
    await using didit = await startDidit();
    const known = await create(didit);
    await didit.vendor.finish(known.providerId, "Awaiting User");
    expect(await didit.provider.get(known, timeoutMs)).toMatchObject({ kind: "unknown" });
    expect(didit.errors).toMatchObject([{ alert: true }]);
  });

  test("the Didit client's `get` returns the evidence of an approved session, and no personal data", async () => {
    await using didit = await startDidit();
    const known = await create(didit);
    await didit.vendor.finish(known.providerId, "Approved");
    const state = accepted(await didit.provider.get(known, timeoutMs));
    expect(state).toMatchObject({
      reference,
      livenessOutcome: "PASSED",
      faceMatchOutcome: "PASSED",
      documentType: "id_card",
      documentExpiry: "2031-06-02",
      nationality: "ESP",
      amlHitCount: 0,
      amlDecision: "CLEAR",
    });
    for (const text of ["Carmen", "Espa", "CAA000000", "1980-01-01", "83.50.226.71", "Madrid"])
      expect(JSON.stringify(state)).not.toContain(text);
  });

  test("the Didit client's `get` returns the reason codes of a declined session", async () => {
    await using didit = await startDidit();
    const known = await create(didit);
    await didit.vendor.finish(known.providerId, "Declined", [
      { feature: "LIVENESS", risk: "LIVENESS_FACE_ATTACK" },
      { feature: "ID_VERIFICATION", risk: "DOCUMENT_EXPIRED" },
      { feature: "AML", risk: "POSSIBLE_MATCH_FOUND" },
    ]);
    const state = accepted(await didit.provider.get(known, timeoutMs));
    expect(state).toMatchObject({
      verdict: "REJECTED",
      livenessOutcome: "FAILED",
      amlHitCount: 1,
      amlDecision: "POSSIBLE_MATCH",
    });
    expect(state.reasonCodes.toSorted()).toEqual(["AML_MATCH", "DOCUMENT_EXPIRED", "LIVENESS_FAILED"]);
  });

  test.each(["400", "200"] as const)(
    "the Didit client's `review` accepts a repeated decision if Didit returns status %s because the session already has the requested status",
    async (sameStatus) => {
      await using didit = await startDidit({ sameStatus });
      const known = { ...(await create(didit)), ...inReview };
      await didit.vendor.finish(known.providerId, "In Review");
      for (const _repeat of [1, 2]) {
        const state = accepted(await didit.provider.review(known, approval, timeoutMs));
        expect(state).toMatchObject({ verdict: "APPROVED", hasProofOfPerson: true });
      }
      expect(didit.vendor.session(known.providerId).status).toBe("Approved");
      expect(accepted(await didit.provider.review(known, rejection, timeoutMs))).toMatchObject({ verdict: "REJECTED" });
    },
  );

  test("the Didit client's `get`, during a review, returns APPROVED after a person's approval in the console, but not after an API key's approval", async () => {
    await using didit = await startDidit();
    const known = { ...(await create(didit)), ...inReview };
    await didit.vendor.finish(known.providerId, "In Review");
    const headers = { "x-api-key": didit.vendor.apiKey, "content-type": "application/json" };
    const body = JSON.stringify({ new_status: "Approved" });
    await fetch(`${didit.vendor.url}/v3/session/${known.providerId}/update-status/`, { method: "PATCH", headers, body });
    const byKey = accepted(await didit.provider.get(known, timeoutMs));
    expect(byKey).toMatchObject({ verdict: "NEEDS_REVIEW", unread: ["reviews"] });
    await didit.vendor.decideInConsole(known.providerId, "Declined", "a mistake");
    await didit.vendor.decideInConsole(known.providerId, "Approved", "checked");
    expect(accepted(await didit.provider.get(known, timeoutMs))).toMatchObject({ verdict: "APPROVED", hasProofOfPerson: true });
  });

  test.each([
    ["CANCELED", "CANCELED"],
    ["EXPIRED", "EXPIRED"],
  ] as const)(
    "the Didit client's `cancel` closes an open session for the reason %s, and a repeated call returns the same status",
    async (why, status) => {
      await using didit = await startDidit({ deletion: "204" });
      const known = await create(didit);
      expect(accepted(await didit.provider.cancel(known, why, timeoutMs))).toMatchObject({ status });
      expect(didit.vendor.session(known.providerId).deleted).toBe(true);
      // The second cancellation finds no session, because the first cancellation deleted it.
      expect(accepted(await didit.provider.cancel(known, why, timeoutMs))).toMatchObject({ status });
    },
  );

  test("the Didit client's `cancel` returns the state of an approved session and does not delete the session", async () => {
    await using didit = await startDidit();
    const known = await create(didit);
    await didit.vendor.finish(known.providerId, "Approved");
    expect(accepted(await didit.provider.cancel(known, "CANCELED", timeoutMs))).toMatchObject({ verdict: "APPROVED" });
    expect(didit.vendor.session(known.providerId).deleted).toBe(false);
  });

  test("the Didit client's `erase` deletes the session and the user if Didit returns status 204 for a deletion", async () => {
    await using didit = await startDidit({ deletion: "204" });
    const known = await create(didit);
    await didit.vendor.finish(known.providerId, "Approved");
    expect(await didit.provider.erase(known, timeoutMs)).toEqual({ kind: "accepted", value: "erased" });
    expect(didit.vendor.session(known.providerId).deleted).toBe(true);
    expect([...didit.vendor.store.users]).toEqual([]);
    expect(didit.vendor.unexpectedRequests).toEqual([]);
  });

  // According to the page docs.didit.me/es/sessions-api/delete-session, Didit returns status 200
  // with a body, not status 204.
  test("the Didit client's `cancel` accepts status 200 with a body as the response to the deletion of a session", async () => {
    await using didit = await startDidit({ deletion: "200" });
    const known = await create(didit);
    expect(await didit.provider.cancel(known, "CANCELED", timeoutMs)).toMatchObject({ kind: "accepted" });
  });

  test("the Didit client's `erase` accepts status 200 with a body as the response to the deletion of a session", async () => {
    await using didit = await startDidit({ deletion: "200" });
    const known = await create(didit);
    expect(await didit.provider.erase(known, timeoutMs)).toEqual({ kind: "accepted", value: "erased" });
  });

  test("the Didit client's `erase` returns a refusal while the session is part of a finalized report", async () => {
    await using didit = await startDidit({ deletion: "200" });
    const known = await create(didit);
    didit.vendor.session(known.providerId).inFiledReport = true;
    expect(await didit.provider.erase(known, timeoutMs)).toMatchObject({ kind: "refused", status: 409 });
    expect(didit.vendor.session(known.providerId).deleted).toBe(false);
  });

  test("the Didit client's `cancel` and `erase` accept a repeated call if Didit returns status 200 for a deletion", async () => {
    await using didit = await startDidit({ deletion: "200" });
    const first = await create(didit);
    await didit.provider.cancel(first, "CANCELED", timeoutMs);
    expect(accepted(await didit.provider.cancel(first, "CANCELED", timeoutMs))).toMatchObject({ status: "CANCELED" });
    const second = await create(didit);
    await didit.provider.erase(second, timeoutMs);
    expect(accepted(await didit.provider.erase(second, timeoutMs))).toBe("erased");
  });

  test("the Didit client's `get` returns a refusal with `isGone` for a session that was deleted at Didit", async () => {
    await using didit = await startDidit();
    const known = await create(didit);
    await didit.vendor.finish(known.providerId, "deleted");
    expect(await didit.provider.get(known, timeoutMs)).toMatchObject({ kind: "refused", isGone: true });
  });

  test.each(["UTF-8", "ASCII-escaped"] as const)(
    "the Didit client accepts all callbacks if X-Signature-V2 signs %s text, and returns a different event id for each callback",
    async (signatureV2) => {
      await using didit = await startDidit({ signatureV2, webhookOnCreation: true });
      const known = await create(didit);
      await didit.vendor.finish(known.providerId, "In Review");
      await didit.vendor.correctData(known.providerId);
      await didit.provider.review({ ...known, ...inReview }, approval, timeoutMs);
      await didit.vendor.settled();
      const readings = readCallbacks(didit);
      expect(readings).toHaveLength(5);
      for (const reading of readings)
        expect(reading).toMatchObject({ kind: "genuine", hint: { providerId: known.providerId, reference } });
      expect(new Set(readings.map((reading) => reading.kind === "genuine" && reading.hint.eventId)).size).toBe(5);
    },
  );

  test("the Didit client returns the same event id for each attempt of the same callback, and rejects a changed body", async () => {
    await using didit = await startDidit();
    const known = await create(didit);
    didit.receiver.status = 503;
    await didit.vendor.finish(known.providerId, "Expired");
    await didit.vendor.retryFailed();
    await didit.vendor.retryFailed();
    await didit.vendor.retryFailed();
    const [first, ...retries] = readCallbacks(didit);
    expect(retries).toEqual([first, first]);
    const [callback] = didit.receiver.received;
    const body = Buffer.from(Buffer.from(callback!.body).toString("utf8").replace("Expired", "Approved"));
    expect(didit.provider.readCallback({ ...callback!, body }, new Date())).toEqual({ kind: "forged" });
  });

  test("the Didit client returns other_environment for a sandbox callback if the client is configured for the live environment", async () => {
    await using didit = await startDidit({}, { environment: "live" });
    const known = await create(didit);
    await didit.vendor.finish(known.providerId, "Expired");
    expect(readCallbacks(didit)).toEqual([{ kind: "other_environment" }]);
  });

  test("the Didit client's `create` returns an unknown outcome and logs an alert if Didit rejects the key with status 403", async () => {
    await using didit = await startDidit({ wrongKey: "403" }, { apiKey: "wrong" });
    expect(await didit.provider.create(aCreationForShop(), timeoutMs)).toMatchObject({ kind: "unknown" });
    expect(didit.errors).toMatchObject([{ alert: true, status: 403 }]);
  });

  // According to the page docs.didit.me/hi/management-api/transactions/rules-create, status 401
  // means a wrong, revoked or expired key, and status 403 means a missing key or permission.
  test("the Didit client's `create` returns an unknown outcome and logs an alert if Didit rejects the key with status 401", async () => {
    await using didit = await startDidit({ wrongKey: "401" }, { apiKey: "wrong" });
    expect(await didit.provider.create(aCreationForShop(), timeoutMs)).toMatchObject({ kind: "unknown" });
    expect(didit.errors).toMatchObject([{ alert: true, status: 401 }]);
  });

  test("the Didit client's `get` returns an unknown outcome after status 429, and sends no request during the pause if the request's timeout is shorter", async () => {
    await using didit = await startDidit();
    const known = await create(didit);
    didit.vendor.rateLimit({ path: /decision/, seconds: 30 });
    expect(await didit.provider.get(known, timeoutMs)).toMatchObject({ kind: "unknown", reason: expect.stringContaining("429") });
    expect(await didit.provider.get(known, 500)).toMatchObject({ kind: "unknown" });
    expect(didit.vendor.requests.filter(({ path }) => path.includes("/decision/"))).toHaveLength(1);
  });

  test("the Didit client's `create` returns a refusal for a blocked user, and an unknown outcome for an account without credits", async () => {
    await using didit = await startDidit({ environment: "live" });
    didit.vendor.store.blocked.add(reference);
    expect(await didit.provider.create(aCreationForShop(), timeoutMs)).toMatchObject({
      kind: "refused",
      status: 400,
      errorCode: "didit_400_vendor_data",
    });
    didit.vendor.store.blocked.clear();
    didit.vendor.store.balance = "0.0000";
    expect(await didit.provider.create(aCreationForShop(), timeoutMs)).toMatchObject({ kind: "unknown" });
    expect(didit.errors).toMatchObject([{ alert: true, status: 400 }]);
  });

  // The older and the newer version of the page docs.didit.me/management-api/workflows/list
  // describe different formats.
  test.each([
    ["older", olderWorkflows],
    ["newer", newerWorkflows],
  ])("the Didit client's `create` accepts the list of workflows in the %s documented format", async (_name, workflows) => {
    await using didit = await startDidit({ workflows });
    expect(await didit.provider.create(aCreationForShop(), timeoutMs)).toMatchObject({ kind: "accepted" });
  });

  // According to the schema SimpleWorkflowUpdateRequest of
  // docs.didit.me/management-api/workflows/update, `session_expiration_time` is a number of seconds
  // from 3600 to 2419200.
  test("the Didit client's `create` returns a link expiry at or before the session's expiry if sessions last one hour", async () => {
    await using didit = await startDidit({ workflow: { sessionExpirationTime: 3_600 } });
    const { providerId, linkExpiresAt } = accepted(await didit.provider.create(aCreationForShop(), timeoutMs));
    expect(linkExpiresAt.getTime()).toBeLessThanOrEqual(Date.parse(didit.vendor.session(providerId).expiresAt));
  });

  test("checkDidit reports no problem for an account with a complete configuration", async () => {
    await using didit = await startDidit();
    const headers = { "x-api-key": didit.vendor.apiKey, "content-type": "application/json" };
    const events = ["status.updated", "data.updated"];
    const body = JSON.stringify({ label: "Amana", url: `${didit.config.callbackUrl}/didit`, subscribed_events: events });
    const response = await fetch(`${didit.vendor.url}/v3/webhook/destinations/`, { method: "POST", headers, body });
    const { uuid, secret_shared_key: secret } = (await response.json()) as { uuid: string; secret_shared_key: string };
    const config = { ...didit.config, destinationId: uuid, webhookSecrets: [secret] };
    const results = await resultsOf((add) => checkDidit(config, add, timeoutMs));
    expect(results.filter(([, result]) => result !== "ok")).toEqual([]);
  });
});

describe("the Sumsub client", () => {
  test.each([201, 200] as const)(
    "the Sumsub client's `create` returns a link for a new applicant if Sumsub responds to the creation with status %i",
    async (creation) => {
      await using sumsub = await startSumsub({ creation });
      const created = accepted(await sumsub.provider.create(aCreationForShop(), timeoutMs));
      expect(created.status).toBe("CREATED");
      expect(sumsub.vendor.links).toMatchObject([{ value: created.linkUrl, userId: reference, levelName: level.name }]);
      expect(created.linkExpiresAt.getTime()).toBeLessThanOrEqual(sumsub.vendor.links[0]!.expiresAt);
      const applicant = await sumsub.vendor.open(created.linkUrl);
      expect(applicant).toMatchObject({ id: created.providerId, externalUserId: reference });
      expect(accepted(await sumsub.provider.get(knownAs(created.providerId), timeoutMs))).toMatchObject({ status: "CREATED" });
      expect(sumsub.vendor.unexpectedRequests).toEqual([]);
    },
  );

  test("the Sumsub client's `create` returns the existing applicant if the response to the first creation was lost", async () => {
    await using sumsub = await startSumsub();
    sumsub.vendor.inject({ method: "POST", path: /^\/resources\/applicants$/, lose: "response" });
    expect(await sumsub.provider.create(aCreationForShop(), timeoutMs)).toMatchObject({ kind: "unknown" });
    const { providerId, status } = accepted(await sumsub.provider.create(aCreationForShop(), timeoutMs));
    expect([...sumsub.vendor.store.all.keys()]).toEqual([providerId]);
    expect(status).toBe("CREATED");
  });

  test("the Sumsub client's `create` returns the existing applicant with a new link if the response with the first link was lost", async () => {
    await using sumsub = await startSumsub();
    sumsub.vendor.inject({ method: "POST", path: /websdkLink$/, lose: "response" });
    expect(await sumsub.provider.create(aCreationForShop(), timeoutMs)).toMatchObject({ kind: "unknown" });
    const { providerId, linkUrl } = accepted(await sumsub.provider.create(aCreationForShop(), timeoutMs));
    expect([...sumsub.vendor.store.all.keys()]).toEqual([providerId]);
    expect(sumsub.vendor.links.map(({ value }) => value)).toContain(linkUrl);
  });

  test.each<[SumsubOutcome, string, string | undefined]>([
    ["started", "OPENED", undefined],
    ["awaitingUser", "OPENED", undefined],
    ["pending", "SUBMITTED", undefined],
    ["prechecked", "PROCESSING", undefined],
    ["queued", "PROCESSING", undefined],
    ["awaitingService", "PROCESSING", undefined],
    ["onHold", "COMPLETED", "NEEDS_REVIEW"],
    ["approved", "COMPLETED", "APPROVED"],
    ["rejected", "COMPLETED", "REJECTED"],
    ["resubmission requested", "FAILED", undefined],
    ["reset", "CREATED", undefined],
    ["deactivated", "CANCELED", undefined],
  ])(
    "the Sumsub client's `get`, for the outcome %s at Sumsub, returns the status %s with the verdict %s",
    async (outcome, status, verdict) => {
      await using sumsub = await startSumsub();
      const known = await create(sumsub);
      await sumsub.vendor.finish(known.providerId, outcome);
      expect(accepted(await sumsub.provider.get(known, timeoutMs))).toMatchObject({ status, verdict, unread: [] });
    },
  );

  test.each(["screeningVendor", "vendorAttribution"] as const)(
    "the Sumsub client's `get` returns an approved applicant's evidence without personal data (AML case with the field %s)",
    async (amlVendorField) => {
      await using sumsub = await startSumsub({ amlVendorField });
      const known = await create(sumsub);
      await sumsub.vendor.finish(known.providerId, "approved");
      const state = accepted(await sumsub.provider.get(known, timeoutMs));
      expect(state).toMatchObject({
        reference,
        livenessOutcome: "PASSED",
        faceMatchOutcome: "PASSED",
        documentType: "id_card",
        documentExpiry: "2028-09-04",
        nationality: "DEU",
        amlHitCount: 0,
        amlDecision: "CLEAR",
        reasonCodes: [],
      });
      for (const text of ["Serge", "Sew", "LGXX359T8", "2000-03-04", "Musterstrasse"])
        expect(JSON.stringify(state)).not.toContain(text);
    },
  );

  test("the Sumsub client's `get` returns a rejected applicant's reason codes, and the number of AML hits of an applicant on hold", async () => {
    await using sumsub = await startSumsub();
    const known = await create(sumsub);
    const rejectLabels = ["FORGERY", "BAD_FACE_MATCHING", "AGE_REQUIREMENT_MISMATCH"];
    await sumsub.vendor.finish(known.providerId, "rejected", { rejectLabels });
    const rejected = accepted(await sumsub.provider.get(known, timeoutMs));
    expect(rejected.reasonCodes.toSorted()).toEqual(["DOCUMENT_TAMPERED", "FACE_MISMATCH", "UNDERAGE"]);
    await sumsub.vendor.finish(known.providerId, "onHold");
    sumsub.vendor.screen(known.providerId, [{ id: "h1", name: "Javier Ejemplo", riskLabels: ["pep"] }]);
    const onHold = accepted(await sumsub.provider.get(known, timeoutMs));
    expect(onHold).toMatchObject({ verdict: "NEEDS_REVIEW", amlHitCount: 1, amlDecision: "POSSIBLE_MATCH" });
  });

  test("the Sumsub client's `get` returns SUBMITTED with two attempts for an applicant that submitted again after a failed attempt", async () => {
    await using sumsub = await startSumsub();
    const known = await create(sumsub);
    await sumsub.vendor.finish(known.providerId, "resubmission requested");
    expect(accepted(await sumsub.provider.get(known, timeoutMs))).toMatchObject({ status: "FAILED", attemptsUsed: 1 });
    await sumsub.vendor.finish(known.providerId, "pending");
    expect(accepted(await sumsub.provider.get(known, timeoutMs))).toMatchObject({ status: "SUBMITTED", attemptsUsed: 2 });
  });

  test("the Sumsub client's `review` sends an approval or a rejection and returns the new verdict", async () => {
    await using sumsub = await startSumsub();
    const known = { ...(await create(sumsub)), ...inReview };
    await sumsub.vendor.finish(known.providerId, "onHold");
    const approved = accepted(await sumsub.provider.review(known, approval, timeoutMs));
    expect(approved).toMatchObject({ verdict: "APPROVED", hasProofOfPerson: true });
    const rejected = accepted(await sumsub.provider.review(known, rejection, timeoutMs));
    expect(rejected).toMatchObject({ verdict: "REJECTED", unread: [] });
  });

  // The page docs.sumsub.com/reference/reject-applicant-action requires reasons for the rejection
  // of actions. If Sumsub also requires reasons for the rejection of applicants, kyc cannot send an
  // operator's rejection.
  test("the Sumsub client's `review` returns a refusal for a rejection if Sumsub requires reasons", async () => {
    await using sumsub = await startSumsub({ rejectReasons: "required" });
    const known = { ...(await create(sumsub)), ...inReview };
    await sumsub.vendor.finish(known.providerId, "onHold");
    expect(await sumsub.provider.review(known, rejection, timeoutMs)).toMatchObject({ kind: "refused", status: 400 });
    expect(sumsub.vendor.applicant(known.providerId).status).toBe("onHold");
  });

  test("the Sumsub client's `get` returns NEEDS_REVIEW during a review if Sumsub reports an approval that Amana did not request", async () => {
    await using sumsub = await startSumsub();
    const known = { ...(await create(sumsub)), ...inReview };
    await sumsub.vendor.finish(known.providerId, "onHold");
    await sumsub.vendor.finish(known.providerId, "approved");
    const state = accepted(await sumsub.provider.get(known, timeoutMs));
    expect(state).toMatchObject({ verdict: "NEEDS_REVIEW", unread: ["reviews"] });
  });

  describe.each(["profile", "404"] as const)(
    "the Sumsub client, with the response %s to a read of a deactivated applicant",
    (deactivatedRead) => {
      test.each([
        ["CANCELED", "CANCELED"],
        ["EXPIRED", "EXPIRED"],
      ] as const)(
        `the Sumsub client's \`cancel\` for the reason %s closes an open applicant and accepts a repeated call (response to later reads: ${deactivatedRead})`,
        async (why, status) => {
          await using sumsub = await startSumsub({ deactivatedRead });
          const known = await create(sumsub);
          for (const _repeat of [1, 2])
            expect(accepted(await sumsub.provider.cancel(known, why, timeoutMs))).toMatchObject({ status });
          expect(sumsub.vendor.applicant(known.providerId).deactivated).toBe(true);
        },
      );

      test(`the Sumsub client's \`erase\` deactivates an applicant and accepts a repeated call (response to later reads: ${deactivatedRead})`, async () => {
        await using sumsub = await startSumsub({ deactivatedRead });
        const known = await create(sumsub);
        await sumsub.vendor.finish(known.providerId, "approved");
        for (const _repeat of [1, 2]) expect(accepted(await sumsub.provider.erase(known, timeoutMs))).toBe("requested");
        expect(sumsub.vendor.applicant(known.providerId).deactivated).toBe(true);
      });
    },
  );

  test("the Sumsub client's `cancel` returns the state of an applicant that Sumsub is checking, and does not deactivate the applicant", async () => {
    await using sumsub = await startSumsub();
    const known = await create(sumsub);
    await sumsub.vendor.finish(known.providerId, "pending");
    expect(accepted(await sumsub.provider.cancel(known, "CANCELED", timeoutMs))).toMatchObject({ status: "SUBMITTED" });
    expect(sumsub.vendor.applicant(known.providerId).deactivated).toBe(false);
  });

  test.each(["deleted", "personal data deleted"] as const)(
    "the Sumsub client returns a hint with `isErasure` for the callback after the outcome %s",
    async (outcome) => {
      await using sumsub = await startSumsub();
      const known = await create(sumsub);
      await sumsub.vendor.finish(known.providerId, outcome);
      expect(readCallbacks(sumsub).at(-1)).toMatchObject({ kind: "genuine", hint: { reference, isErasure: true } });
      const outcomeOfRead = await sumsub.provider.get(known, timeoutMs);
      expect(outcomeOfRead).toMatchObject(outcome === "deleted" ? { kind: "refused", isGone: true } : { kind: "accepted" });
    },
  );

  test.each([
    ["HMAC_SHA256_HEX", "genuine"],
    ["HMAC_SHA512_HEX", "genuine"],
    ["HMAC_SHA1_HEX", "forged"],
  ] as const)("the Sumsub client classifies callbacks with the digest algorithm %s as %s", async (digest, kind) => {
    await using sumsub = await startSumsub({ digest });
    const known = await create(sumsub);
    await sumsub.vendor.finish(known.providerId, "approved");
    expect(readCallbacks(sumsub).map((reading) => reading.kind)).toEqual([kind, kind, kind]);
  });

  test("the Sumsub client returns the same event id for each attempt of the same callback, and rejects a changed body", async () => {
    await using sumsub = await startSumsub();
    sumsub.receiver.status = 500;
    const known = await create(sumsub);
    await sumsub.vendor.settled();
    for (const _attempt of [1, 2, 3, 4, 5]) await sumsub.vendor.retryFailed();
    const [first, ...resent] = readCallbacks(sumsub);
    expect(first).toMatchObject({ kind: "genuine", hint: { providerId: known.providerId, sequence: undefined } });
    expect(resent).toEqual([first, first, first, first]);
    const [callback] = sumsub.receiver.received;
    const body = Buffer.from(Buffer.from(callback!.body).toString("utf8").replace("init", "hold"));
    expect(sumsub.provider.readCallback({ ...callback!, body }, new Date())).toEqual({ kind: "forged" });
  });

  test("the Sumsub client returns other_environment for a live callback if the client is configured for the sandbox", async () => {
    await using sumsub = await startSumsub({ sandbox: false });
    await create(sumsub);
    await sumsub.vendor.settled();
    expect(readCallbacks(sumsub)).toEqual([{ kind: "other_environment" }]);
  });

  test("the Sumsub client's `get` returns an unknown outcome and logs an alert if Sumsub rejects the signature", async () => {
    await using sumsub = await startSumsub({}, { secretKey: "wrong" });
    expect(await sumsub.provider.get(knownAs("65a64728ee76e62ddabf1a62"), timeoutMs)).toMatchObject({ kind: "unknown" });
    expect(sumsub.errors).toMatchObject([{ alert: true, status: 401, error_code: 4003 }]);
  });

  test("the Sumsub client's `get` returns an unknown outcome after status 429 for the applicant or for the AML case", async () => {
    await using sumsub = await startSumsub();
    const known = await create(sumsub);
    sumsub.vendor.rateLimit({ path: /\/one$/, seconds: 1 });
    expect(await sumsub.provider.get(known, timeoutMs)).toMatchObject({ kind: "unknown" });
    await sumsub.vendor.finish(known.providerId, "approved");
    for (const _read of Array.from({ length: 10 })) accepted(await sumsub.provider.get(known, timeoutMs));
    expect(await sumsub.provider.get(known, timeoutMs)).toMatchObject({ kind: "unknown", reason: "the AML case cannot be read" });
  });

  test("checkSumsub returns one warning, about the webhook, and no failure if no webhook id is configured", async () => {
    await using sumsub = await startSumsub();
    const results = await resultsOf((add) => checkSumsub(sumsub.config, add, timeoutMs));
    expect(results.filter(([, result]) => result !== "ok")).toEqual([["webhook", "warning"]]);
    expect(sumsub.vendor.unexpectedRequests).toEqual([]);
  });

  // According to the file webhook-schema.md in github.com/SUMSUB/agent-skills, a webhook has no
  // field `disabled`.
  test("checkSumsub reports no problem for a webhook with a complete configuration", async () => {
    await using sumsub = await startSumsub();
    const types = "applicantPending applicantReviewed applicantOnHold applicantDeleted applicantPersonalDataDeleted".split(" ");
    sumsub.vendor.webhooks.push({
      id: "65a64728ee76e62ddabf1a63",
      name: "Amana",
      target: `${sumsub.config.callbackUrl}/sumsub`,
      targetType: "http",
      types,
      secretKey: sumsub.vendor.webhookSecret,
      signatureAlgorithm: "HMAC_SHA256_HEX",
      notResendFailedWebhooks: false,
    });
    const config = { ...sumsub.config, webhookId: "65a64728ee76e62ddabf1a63" };
    const results = await resultsOf((add) => checkSumsub(config, add, timeoutMs));
    expect(results).toContainEqual(["webhook", "ok"]);
  });
});

describe("imitations", () => {
  test("DiditImitation returns status 404 for a request without a documented route, and records the request", async () => {
    await using didit = await startDidit();
    const response = await fetch(`${didit.vendor.url}/v3/nothing/`, { headers: { "x-api-key": didit.vendor.apiKey } });
    expect(response.status).toBe(404);
    expect(didit.vendor.unexpectedRequests).toEqual(["GET /v3/nothing/"]);
    expect(didit.vendor.requests.at(-1)).toMatchObject({ method: "GET", path: "/v3/nothing/", status: 404 });
  });

  test("SumsubImitation rejects a request whose body differs from the signed body", async () => {
    await using sumsub = await startSumsub();
    const url = `/resources/applicants?levelName=${level.name}`;
    const ts = String(Math.floor(Date.now() / 1000));
    const signature = createHmac("sha256", sumsub.vendor.secretKey).update(`${ts}POST${url}{}`).digest("hex");
    const headers = { "x-app-token": sumsub.vendor.appToken, "x-app-access-ts": ts, "x-app-access-sig": signature };
    const send = (body: string) => fetch(sumsub.vendor.url + url, { method: "POST", headers, body });
    expect((await send('{"externalUserId":"u"}')).status).toBe(401);
    expect((await send("{}")).status).toBe(201);
  });
});
