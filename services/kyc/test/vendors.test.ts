import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { startTestService } from "@amana/service-host/testing";
import { aBusinessCaller, adminCaller, eventually, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { KycApplication } from "../src/kyc-application/kyc-application.ts";
import { kyc } from "../src/service.ts";
import type { ApplicationToCreate, KnownApplication } from "../src/verification-provider/verification-provider.ts";
import { anApplication, anApplicationToCreate } from "./an-application.ts";
import { type CreateRequest, type Harness, kycSettings, providerSettings, startHarness } from "./harness.ts";

const timeoutMs = 10_000;
let harness: Harness;

const aReference = () => crypto.randomUUID();
const aCreation = (changes: Partial<ApplicationToCreate> = {}) =>
  anApplicationToCreate({ reference: aReference(), locale: "en", ...changes });
const current = () => harness.context.providers.current;
const knownOf = (providerId: string, reference: string, changes: Partial<KnownApplication> = {}): KnownApplication => ({
  ...anApplication().toKnownApplication(),
  providerId,
  reference,
  ...changes,
});

/** Creates an application at the vendor without a row in kyc's database. */
async function createAtVendor(changes: Partial<ApplicationToCreate> = {}) {
  const requested = aCreation(changes);
  const outcome = await current().create(requested, timeoutMs);
  if (outcome.kind !== "accepted") throw new Error(`the vendor did not accept the application: ${JSON.stringify(outcome)}`);
  return { ...outcome.value, reference: requested.reference };
}

const readStored = async (id: string) =>
  (await harness.sql<Record<string, unknown>>("select * from kyc_application where id = ?", [id]))[0];
const makeDue = (id: string, ago = "0 s") =>
  harness.sql(`update kyc_application set link_expires_at = now() - interval '${ago}', next_check_at = now() where id = ?`, [id]);
const review = (id: string, outcome: KycVerdict) =>
  harness.kyc.reviewKycApplication({ id, outcome, note: "checked" }, { caller: adminCaller, timeoutMs: 20_000 });

/** Runs `work` while callbacks of the sandbox reach kyc. */
async function withCallbacks<T>(work: () => Promise<T>): Promise<T> {
  harness.callbackTarget.isReachable = true;
  try {
    return await work();
  } finally {
    harness.callbackTarget.isReachable = false;
  }
}

describe.each(["didit", "sumsub"] as const)("kyc with %s", (vendor) => {
  beforeAll(async () => {
    harness = await startHarness({ provider: vendor });
  });
  afterAll(() => harness[Symbol.asyncDispose]());
  afterEach(() => harness.sandbox.clearFaults());

  test(`kyc with ${vendor} stores the vendor's status after the creation, after the link is opened and after the submission`, async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    expect(await harness.readRefreshed(id, caller)).toMatchObject({ status: KycStatus.CREATED });
    await harness.sandbox.open(linkUrl);
    // Sumsub does not report when an applicant opens the link.
    const opened = vendor === "didit" ? KycStatus.OPENED : KycStatus.CREATED;
    expect(await harness.readRefreshed(id, caller)).toMatchObject({ status: opened });
    await harness.sandbox.submit(linkUrl, { outcome: "approved", hold_seconds: 600 });
    // Didit reports the same status after the opening of the link and after the submission.
    const submitted = vendor === "didit" ? KycStatus.OPENED : KycStatus.PROCESSING;
    expect(await harness.readRefreshed(id, caller)).toMatchObject({ status: submitted });
  });

  test.each([
    ["approved", {}, KycVerdict.APPROVED],
    ["rejected", { reason_codes: ["FACE_MISMATCH"] }, KycVerdict.REJECTED],
    ["needs_review", { reason_codes: ["DUPLICATE"] }, KycVerdict.NEEDS_REVIEW],
    ["approved", { aml_hit_count: 2 }, KycVerdict.NEEDS_REVIEW],
    ["approved", { aml_hit_count: 2, aml_cleared: true }, KycVerdict.NEEDS_REVIEW],
    ["approved", { document_expiry: "2020-01-31" }, KycVerdict.REJECTED],
  ] as const)(
    `kyc with ${vendor} converts the vendor's outcome %s with the evidence %j to the verdict with the enum number %s`,
    async (outcome, fields, verdict) => {
      expect(await harness.aDecidedApplication({ outcome, ...fields })).toMatchObject({ status: KycStatus.COMPLETED, verdict });
    },
  );

  test(`kyc with ${vendor} sets the verdict NEEDS_REVIEW if the vendor approved an application without a video`, async () => {
    const application = await harness.aDecidedApplication({ outcome: "approved" }, aBusinessCaller(), { requireVideo: false });
    expect(application).toMatchObject({ verdict: KycVerdict.NEEDS_REVIEW });
  });

  test(`kyc with ${vendor} sets the verdict NEEDS_REVIEW if the profile's first name differs from the document, and APPROVED if only the case differs`, async () => {
    const profile = JSON.stringify({ first_name: "Amine", last_name: "Benali", birth_date: "1990-01-01" });
    const sameName = { outcome: "approved", first_name: "AMINE", last_name: "BENALI" } as const;
    expect(await harness.aDecidedApplication(sameName, aBusinessCaller(), { profile })).toMatchObject({
      verdict: KycVerdict.APPROVED,
    });
    const otherName = { outcome: "approved", first_name: "KARIM" } as const;
    expect(await harness.aDecidedApplication(otherName, aBusinessCaller(), { profile })).toMatchObject({
      verdict: KycVerdict.NEEDS_REVIEW,
    });
  });

  test(`kyc with ${vendor} rejects a request with a profile field that the vendor does not compare`, async () => {
    const request: CreateRequest = { profile: JSON.stringify({ address: "Alger" }) };
    const error = await refusal(harness.create(aBusinessCaller(), request));
    expect(error).toMatchObject({ code: "unsupported_by_provider", pointer: "/profile/address" });
  });

  test(`kyc with ${vendor} creates one usable application if the vendor's first response to the creation is lost`, async () => {
    await harness.sandbox.fault("kyc_create", "reset_after", 1);
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    await harness.sandbox.submit(linkUrl, { outcome: "approved" });
    expect(await harness.readRefreshed(id, caller)).toMatchObject({ verdict: KycVerdict.APPROVED });
  });

  test(`kyc with ${vendor} reads the verdict after a callback, and emits one event even if callbacks are duplicated`, async () => {
    await withCallbacks(async () => {
      await harness.sandbox.fault("kyc_callback", "duplicate", 2);
      const caller = aBusinessCaller();
      const { id, linkUrl } = await harness.create(caller);
      await harness.sandbox.submit(linkUrl, { outcome: "approved" });
      await eventually(async () => expect(await readStored(id)).toMatchObject({ status: "COMPLETED", verdict: "APPROVED" }));
      expect((await harness.readEventNames(id)).filter((name) => name === "COMPLETED")).toEqual(["COMPLETED"]);
    });
  });

  test(`kyc with ${vendor} rejects a callback that has an invalid signature, and does not change the application`, async () => {
    await withCallbacks(async () => {
      // More faults than the callback needs, because repeated callbacks of earlier tests use some.
      await harness.sandbox.fault("kyc_callback", "bad_signature", 100);
      const { id, linkUrl } = await harness.create();
      await harness.sandbox.submit(linkUrl, { outcome: "approved" });
      await eventually(async () => {
        const { callbacks } = await harness.sandbox.application(id);
        expect(JSON.stringify(callbacks)).toContain("401");
      });
      expect(await readStored(id)).toMatchObject({ status: "CREATED" });
    });
  });

  test(`contract test 14: kyc with ${vendor} accepts a callback while the vendor does not respond to reads, and applies the verdict in the next check`, async () => {
    const { id, linkUrl } = await harness.create();
    await withCallbacks(async () => {
      await harness.sandbox.fault("kyc_get", "timeout_before", 20);
      await harness.sandbox.submit(linkUrl, { outcome: "approved" });
      await eventually(async () => expect(JSON.stringify(await harness.sandbox.application(id))).toContain('"delivered"'));
    });
    expect(await readStored(id)).toMatchObject({ status: "CREATED" });
    await harness.sandbox.clearFaults();
    await harness.checkDue();
    expect(await readStored(id)).toMatchObject({ verdict: "APPROVED" });
  });

  test(`contract test 14: kyc with ${vendor} counts a check that returns an unchanged state, and does not increase the sequence`, async () => {
    const { id } = await harness.create();
    await makeDue(id, "-1 day");
    await harness.checkDue();
    const first = await readStored(id);
    await makeDue(id, "-1 day");
    await harness.checkDue();
    expect(await readStored(id)).toMatchObject({ sequence: first?.["sequence"], checks: Number(first?.["checks"]) + 1 });
  });

  test(`kyc with ${vendor} sets the status EXPIRED and closes the link at the vendor two minutes after the link's expiry`, async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    await makeDue(id, "2 min");
    await harness.checkDue();
    expect(await readStored(id)).toMatchObject({ status: "EXPIRED", next_check_at: null });
    await expect(harness.sandbox.submit(linkUrl, { outcome: "approved" })).rejects.toThrow("409");
  });

  test(`kyc with ${vendor} applies the verdict on a submission that was made before the link's expiry`, async () => {
    const { id, linkUrl } = await harness.create();
    await harness.sandbox.submit(linkUrl, { outcome: "approved" });
    await makeDue(id, "2 min");
    await harness.checkDue();
    expect(await readStored(id)).toMatchObject({ status: "COMPLETED", verdict: "APPROVED" });
  });

  test(`kyc with ${vendor} applies all missed verdicts and creates applications again when the vendor's outage has ended`, async () => {
    const caller = aBusinessCaller();
    const applications = await Promise.all([1, 2, 3, 4].map(() => harness.create(caller)));
    for (const operation of ["kyc_create", "kyc_get"]) await harness.sandbox.fault(operation, "http_503", 10_000);
    expect(await refusal(harness.create(caller))).toMatchObject({ code: "kyc_provider_unavailable" });
    for (const { linkUrl } of applications) await harness.sandbox.submit(linkUrl, { outcome: "approved" });
    await harness.sql("update kyc_application set next_check_at = now() where business_id = ?", [caller.businessId]);
    await harness.checkDue();
    const readVerdicts = async () =>
      (
        await harness.sql<{ verdict: string }>("select verdict from kyc_application where business_id = ?", [caller.businessId])
      ).map(({ verdict }) => verdict);
    expect(await readVerdicts()).toEqual([null, null, null, null]);
    await harness.sandbox.clearFaults();
    await harness.sql("update kyc_application set next_check_at = now() where business_id = ?", [caller.businessId]);
    await harness.checkDue();
    expect(await readVerdicts()).toEqual(["APPROVED", "APPROVED", "APPROVED", "APPROVED"]);
    expect(await harness.create(caller)).toMatchObject({ status: KycStatus.CREATED });
  });

  test(`kyc with ${vendor} does not change an application while the vendor rejects the credentials, and applies the verdict when the credentials are accepted again`, async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    await harness.sandbox.submit(linkUrl, { outcome: "approved" });
    await harness.sandbox.fault("kyc_get", `error:${vendor === "didit" ? 403 : 401}`, 1);
    expect(await harness.readRefreshed(id, caller)).toMatchObject({ status: KycStatus.CREATED });
    expect(await harness.readRefreshed(id, caller)).toMatchObject({ verdict: KycVerdict.APPROVED });
  });

  test(`kyc with ${vendor} does not set the status EXPIRED while the vendor does not respond, even if the link has expired`, async () => {
    const { id } = await harness.create();
    await harness.sandbox.fault("kyc_get", "http_503", 10);
    await makeDue(id, "2 min");
    await harness.checkDue();
    expect(await readStored(id)).toMatchObject({ status: "CREATED" });
  });

  test(`cancelKycApplication with ${vendor} closes the link at the vendor even if the vendor's first response is lost`, async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    await harness.sandbox.fault("kyc_cancel", "reset_after", 1);
    expect(await harness.kyc.cancelKycApplication({ id }, { caller, timeoutMs: 20_000 })).toMatchObject({
      status: KycStatus.CANCELED,
    });
    await expect(harness.sandbox.submit(linkUrl, { outcome: "approved" })).rejects.toThrow("409");
  });

  test.each([
    [KycVerdict.APPROVED, "APPROVED"],
    [KycVerdict.REJECTED, "REJECTED"],
  ])(
    `kyc with ${vendor} sends an operator's decision with the enum number %i (%s) to the vendor, and emits one audit event`,
    async (outcome, name) => {
      const { id } = await harness.aDecidedApplication({ outcome: "needs_review", reason_codes: ["DUPLICATE"] });
      expect(await review(id, outcome)).toMatchObject({ verdict: outcome });
      expect(await readStored(id)).toMatchObject({ provider_verdict: name });
      expect((await harness.readAuditEvents(id)).map(({ action }) => action)).toEqual(["kyc_application.reviewed"]);
    },
  );

  test(`kyc with ${vendor} stores an operator's decision and emits one audit event if the vendor's response is lost`, async () => {
    const { id } = await harness.aDecidedApplication({ outcome: "needs_review" });
    await harness.sandbox.fault("kyc_review", "reset_after", 1);
    await refusal(review(id, KycVerdict.APPROVED));
    await harness.sql("update kyc_application set next_check_at = now() where id = ?", [id]);
    await harness.checkDue();
    expect(await readStored(id)).toMatchObject({ verdict: "APPROVED" });
    expect(await harness.readAuditEvents(id)).toHaveLength(1);
  });

  test(`kyc with ${vendor} applies an operator's decision even if the application in review was deleted at the vendor`, async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    await harness.sandbox.submit(linkUrl, { outcome: "needs_review" });
    await harness.readRefreshed(id, caller);
    await harness.sandbox.deleteAtVendor(linkUrl);
    expect(await review(id, KycVerdict.APPROVED)).toMatchObject({ verdict: KycVerdict.APPROVED });
  });

  test(`kyc with ${vendor} ends a review if the vendor reports a rejection or proves that a person approved`, async () => {
    const caller = aBusinessCaller();
    const inReview = async () => {
      const created = await harness.create(caller);
      await harness.sandbox.submit(created.linkUrl, { outcome: "needs_review", reason_codes: ["DUPLICATE"] });
      await harness.readRefreshed(created.id, caller);
      return created;
    };
    const rejected = await inReview();
    await harness.sandbox.review(rejected.linkUrl, "rejected", "api");
    expect(await harness.readRefreshed(rejected.id, caller)).toMatchObject({ verdict: KycVerdict.REJECTED });
    for (const by of ["api", "system", "note"]) {
      const { id, linkUrl } = await inReview();
      await harness.sandbox.review(linkUrl, "approved", by);
      expect(await harness.readRefreshed(id, caller)).toMatchObject({ verdict: KycVerdict.NEEDS_REVIEW });
      expect(await review(id, KycVerdict.APPROVED)).toMatchObject({ verdict: KycVerdict.APPROVED });
    }
    const byPerson = await inReview();
    await harness.sandbox.review(byPerson.linkUrl, "approved", "console");
    // Sumsub's responses do not prove that a person approved.
    const expected = vendor === "didit" ? KycVerdict.APPROVED : KycVerdict.NEEDS_REVIEW;
    expect(await harness.readRefreshed(byPerson.id, caller)).toMatchObject({ verdict: expected });
  });

  test(`kyc with ${vendor} keeps the verdict APPROVED if the vendor later changes its verdict to a rejection`, async () => {
    await withCallbacks(async () => {
      const { id, linkUrl } = await harness.create();
      await harness.sandbox.submit(linkUrl, { outcome: "approved" });
      await eventually(async () => expect(await readStored(id)).toMatchObject({ verdict: "APPROVED" }));
      await harness.sandbox.reverse(linkUrl, "rejected");
      await eventually(async () => {
        const { callbacks } = await harness.sandbox.application(id);
        expect(callbacks.every(({ state }) => state === "delivered")).toBe(true);
      });
      expect(await readStored(id)).toMatchObject({ verdict: "APPROVED", status: "COMPLETED" });
    });
  });

  test(`kyc with ${vendor} rejects creations with kyc_provider_unavailable while the vendor's configuration violates a requirement`, async () => {
    const setup = vendor === "didit" ? { didit_workflow: { max_retry_attempts: 3 } } : { sumsub_level: { websdkNext: false } };
    await harness.sandbox.setUp(setup);
    expect(await current().probe?.()).toContainEqual(expect.objectContaining({ severity: "error" }));
    expect(await refusal(harness.create())).toMatchObject({ code: "kyc_provider_unavailable" });
    await harness.sandbox.setUp({ didit_workflow: {}, sumsub_level: {} });
    expect(await current().probe?.()).toEqual([]);
    expect(await harness.create()).toMatchObject({ status: KycStatus.CREATED });
  });

  test(`the ${vendor} client's \`erase\` deletes or closes the applicant and accepts a repeated call`, async () => {
    const { providerId, reference } = await createAtVendor();
    const known = knownOf(providerId, reference);
    expect(await current().erase(known, timeoutMs)).toEqual({
      kind: "accepted",
      value: vendor === "didit" ? "erased" : "requested",
    });
    expect(await current().erase(known, timeoutMs)).toMatchObject({ kind: "accepted" });
    expect(await current().create(aCreation({ reference }), timeoutMs)).toMatchObject({
      kind: vendor === "didit" ? "accepted" : "refused",
    });
  });

  test(`contract test 14: kyc, after a change of the provider from ${vendor} to "port", starts only with the settings of ${vendor}, and reads earlier applications at ${vendor}`, async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    const settings = {
      ...kycSettings(harness.sandbox.url, harness.callbacks.url, "port"),
      DATABASE_URL: harness.databaseUrl,
    };
    await expect(startTestService(kyc, { settings })).rejects.toThrow(`Applications are open at ${vendor}`);
    await using service = await startTestService(kyc, {
      settings: { ...settings, KYC_PROVIDERS_FORMER: vendor, ...providerSettings[vendor](harness.sandbox.url) },
    });
    expect(service.context.providers.current.name).toBe("port");
    await harness.sandbox.submit(linkUrl, { outcome: "approved" });
    const application = await service.context.orm.em.fork().findOneOrFail(KycApplication, { id }, { filters: false });
    expect(
      await service.context.providers.providerOf(application).get(application.toKnownApplication(), timeoutMs),
    ).toMatchObject({
      kind: "accepted",
      value: { verdict: "APPROVED" },
    });
  });

  test(`kyc with ${vendor} neither stores nor emits personal data from the vendor's responses and callbacks`, async () => {
    for (const table of ["kyc_application", "outbox", "provider_event", "idempotency_key"]) {
      const rows = await harness.sql<{ text: string }>(`select t::text as text from ${table} t`);
      expect(rows.filter(({ text }) => /canary/i.test(text))).toEqual([]);
    }
    const payloads = await harness.sql<{ payload: Buffer }>("select payload from outbox");
    expect(payloads.length).toBeGreaterThan(0);
    expect(payloads.filter(({ payload }) => payload.includes("canary"))).toEqual([]);
  });
});

describe("kyc with didit", () => {
  beforeAll(async () => {
    harness = await startHarness({ provider: "didit" });
  });
  afterAll(() => harness[Symbol.asyncDispose]());
  afterEach(() => harness.sandbox.clearFaults());

  test("contract test 1: the Didit client's `create` returns the unfinished session of a known reference, or a new session if that session is finished", async () => {
    const first = await createAtVendor();
    expect(await createAtVendor({ reference: first.reference })).toMatchObject({
      providerId: first.providerId,
      linkUrl: first.linkUrl,
    });
    await harness.sandbox.submit(first.linkUrl, { outcome: "approved" });
    const second = await createAtVendor({ reference: first.reference });
    expect(second.providerId).not.toBe(first.providerId);
  });

  test("contract test 1: kyc with didit ignores the verdict and callbacks of a second session with the same reference", async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    await harness.sandbox.submit(linkUrl, { outcome: "needs_review" });
    await harness.readRefreshed(id, caller);
    const second = await createAtVendor({ reference: id });
    await withCallbacks(async () => {
      await harness.sandbox.submit(second.linkUrl, { outcome: "approved" });
      await eventually(async () => {
        const { callbacks } = await harness.sandbox.application(id);
        expect(callbacks.length).toBeGreaterThan(0);
        expect(callbacks.every(({ state }) => state === "delivered")).toBe(true);
      });
    });
    expect(await readStored(id)).toMatchObject({ verdict: "NEEDS_REVIEW" });
  });

  test("contract test 1: the Didit client's `create` returns a refusal for status 400 with a field name, and an unknown outcome for status 400 without a field name", async () => {
    const refused = await current().create(aCreation({ redirectUrl: "ftp://shop.test" }), timeoutMs);
    expect(refused).toEqual({ kind: "refused", status: 400, errorCode: "didit_400_callback" });
    await harness.sandbox.fault("kyc_create", "error:400", 1);
    expect(await current().create(aCreation(), timeoutMs)).toMatchObject({ kind: "unknown" });
  });

  test.each([403, 408, 500, 503])(
    "contract test 1: the Didit client's `create` returns an unknown outcome for status %i",
    async (status) => {
      await harness.sandbox.fault("kyc_create", `error:${status}`, 1);
      expect(await current().create(aCreation(), timeoutMs)).toMatchObject({ kind: "unknown" });
    },
  );

  test("contract test 4: the Didit client's `review` returns the state of an already approved session, and a refusal with `isGone` for a deleted session", async () => {
    const { providerId, reference, linkUrl } = await createAtVendor();
    await harness.sandbox.submit(linkUrl, { outcome: "approved" });
    const decision = { outcome: "APPROVED", reviewer: "op_1", note: "" } as const;
    expect(await current().review(knownOf(providerId, reference), decision, timeoutMs)).toMatchObject({
      value: { verdict: "APPROVED" },
    });
    await harness.sandbox.deleteAtVendor(linkUrl);
    expect(await current().review(knownOf(providerId, reference), decision, timeoutMs)).toMatchObject({
      kind: "refused",
      isGone: true,
    });
    expect(await current().get(knownOf(providerId, reference), timeoutMs)).toMatchObject({ kind: "refused", isGone: true });
    expect(await current().cancel(knownOf(providerId, reference), "CANCELED", timeoutMs)).toMatchObject({
      value: { status: "CANCELED" },
    });
  });

  test("kyc with didit sets the status FAILED and closes the link if an officer requests a resubmission", async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    await harness.sandbox.submit(linkUrl, { outcome: "rejected" });
    await harness.sandbox.resubmit(linkUrl);
    expect(await harness.readRefreshed(id, caller)).toMatchObject({ status: KycStatus.FAILED, attemptsRemaining: 0 });
    expect(await readStored(id)).toMatchObject({ closing: "USED_UP" });
    await harness.checkDue();
    expect(await readStored(id)).toMatchObject({ status: "FAILED", closing: null, next_check_at: null });
    await expect(harness.sandbox.submit(linkUrl, { outcome: "approved" })).rejects.toThrow();
  });

  test("kyc with didit rejects max_attempts 2 with the pointer /max_attempts, and accepts max_attempts 1", async () => {
    const error = await refusal(harness.create(aBusinessCaller(), { maxAttempts: 2 }));
    expect(error).toMatchObject({ code: "unsupported_by_provider", pointer: "/max_attempts" });
    const key = withIdempotencyKey(aBusinessCaller(), "k");
    expect(await harness.kyc.createKycApplication({ maxAttempts: 1 }, { ...key, timeoutMs: 20_000 })).toMatchObject({
      attemptsRemaining: 1,
    });
  });

  test("contract test 1: the Didit client's `create` returns an unknown outcome for status 429 and during the pause that follows", async () => {
    await harness.sandbox.fault("kyc_create", "error:429", 1);
    expect(await current().create(aCreation(), timeoutMs)).toMatchObject({ kind: "unknown" });
    expect(await current().create(aCreation(), 1_000)).toEqual({
      kind: "unknown",
      reason: "rate limit permits no call before the timeout",
    });
  });

  test("kyc with didit rejects ttl_hours that exceeds the lifetime of the workflow's sessions", async () => {
    const error = await refusal(harness.create(aBusinessCaller(), { ttlHours: 169 }));
    expect(error).toMatchObject({ code: "unsupported_by_provider", pointer: "/ttl_hours" });
  });
});

describe("kyc with sumsub", () => {
  beforeAll(async () => {
    harness = await startHarness({ provider: "sumsub" });
  });
  afterAll(() => harness[Symbol.asyncDispose]());
  afterEach(() => harness.sandbox.clearFaults());

  test("contract test 7: the Sumsub client's `create` returns the existing applicant with a new link for a known reference", async () => {
    const first = await createAtVendor();
    const second = await createAtVendor({ reference: first.reference });
    expect(second.providerId).toBe(first.providerId);
    expect(second.linkUrl).not.toBe(first.linkUrl);
  });

  test("contract test 7: the Sumsub client's `create` returns a refusal if the existing applicant has another level", async () => {
    const { reference } = await createAtVendor();
    const outcome = await current().create(aCreation({ reference, allowedDocuments: ["passport"] }), timeoutMs);
    expect(outcome).toEqual({ kind: "refused", status: 409, errorCode: "sumsub_409_other_level" });
  });

  test("contract test 7: kyc with sumsub creates a usable application if Sumsub's first response with the link is lost", async () => {
    await harness.sandbox.fault("kyc_link", "reset_after", 1);
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    await harness.sandbox.submit(linkUrl, { outcome: "approved" });
    expect(await harness.readRefreshed(id, caller)).toMatchObject({ verdict: KycVerdict.APPROVED });
  });

  test("contract test 8: kyc with sumsub accepts a second attempt after a failed attempt, and closes the link when no attempt remains", async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller, { maxAttempts: 2 });
    await harness.sandbox.submit(linkUrl, { outcome: "failed" });
    expect(await harness.readRefreshed(id, caller)).toMatchObject({ status: KycStatus.FAILED, attemptsRemaining: 1 });
    await harness.sandbox.submit(linkUrl, { outcome: "failed" });
    expect(await harness.readRefreshed(id, caller)).toMatchObject({ status: KycStatus.FAILED, attemptsRemaining: 0 });
    await harness.sandbox.fault("kyc_cancel", "http_503", 1);
    await harness.checkDue();
    expect(await readStored(id)).toMatchObject({ closing: "USED_UP" });
    await harness.sql("update kyc_application set next_check_at = now() where id = ?", [id]);
    await harness.checkDue();
    expect(await readStored(id)).toMatchObject({ status: "FAILED", closing: null, next_check_at: null });
    await expect(harness.sandbox.submit(linkUrl, { outcome: "approved" })).rejects.toThrow("409");
    expect(await harness.readEventNames(id)).toEqual(["CREATED", "FAILED", "FAILED"]);
  });

  test("contract test 10: the Sumsub client's `get` returns an unknown outcome if the AML case cannot be read", async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    await harness.sandbox.submit(linkUrl, { outcome: "approved" });
    // The response with status 429 is last, because it pauses further reads of AML cases.
    for (const mode of ["http_503", "truncated", "error:429"]) {
      await harness.sandbox.fault("kyc_aml", mode, 1);
      const application = knownOf(String((await readStored(id))?.["provider_id"]), id);
      expect(await current().get(application, timeoutMs)).toMatchObject({ kind: "unknown" });
    }
  });

  test("contract test 11: the Sumsub client's `review` returns an unknown outcome while Sumsub is checking the applicant", async () => {
    const { providerId, reference, linkUrl } = await createAtVendor();
    await harness.sandbox.submit(linkUrl, { outcome: "approved", hold_seconds: 600 });
    const decision = { outcome: "APPROVED", reviewer: "op_1", note: "" } as const;
    expect(await current().review(knownOf(providerId, reference), decision, timeoutMs)).toMatchObject({ kind: "unknown" });
  });

  test("contract test 11: the Sumsub client's `cancel` returns the state of an applicant that Sumsub is checking, and closes an open applicant", async () => {
    const submitted = await createAtVendor();
    await harness.sandbox.submit(submitted.linkUrl, { outcome: "approved", hold_seconds: 600 });
    const known = knownOf(submitted.providerId, submitted.reference);
    expect(await current().cancel(known, "CANCELED", timeoutMs)).toMatchObject({ value: { status: "PROCESSING" } });
    const openApplicant = await createAtVendor();
    for (const attempt of [1, 2]) {
      const outcome = await current().cancel(knownOf(openApplicant.providerId, openApplicant.reference), "CANCELED", timeoutMs);
      expect([attempt, outcome]).toMatchObject([attempt, { value: { status: "CANCELED" } }]);
    }
  });
});
