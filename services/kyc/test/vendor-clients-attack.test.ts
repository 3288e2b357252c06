import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { evaluate } from "../src/kyc-application/evaluate.ts";
import { readApplicant, readReview } from "../src/verification-provider/sumsub/read-applicant.ts";
import { anApplication, anApplicationToCreate } from "./an-application.ts";
import * as didit from "./fixtures/didit.ts";
import * as sumsub from "./fixtures/sumsub.ts";
import { htmlPage, json, type Reply, startScriptedVendor } from "./scripted-vendor.ts";

let vendor: Awaited<ReturnType<typeof startScriptedVendor>>;
beforeAll(async () => {
  vendor = await startScriptedVendor();
});
afterAll(() => vendor.stop());
beforeEach(() => {
  vendor.calls = [];
});

const approval = { outcome: "APPROVED", reviewer: "op_1", note: "" } as const;

describe("the client of Sumsub", () => {
  const known = { ...anApplication().toKnownApplication(), providerId: sumsub.applicantId, reference: sumsub.reference };
  const steps = { "/requiredIdDocsStatus": json(sumsub.someSteps()), "/amlCase": json(sumsub.anAmlCase()) };
  const open = { ...steps, "/one": json(sumsub.withReview({ reviewStatus: "init", reviewResult: undefined })) };
  const onHold = { ...steps, "/one": json(sumsub.withReview({ reviewStatus: "onHold", reviewResult: undefined })) };
  const setup = {
    "/levels": json({ list: { items: [{ id: "l1", name: "amana" }] } }),
    "/levels/l1": json({
      applicantType: "individual",
      requiredIdDocs: {
        docSets: [
          { idDocSetType: "IDENTITY", types: ["PASSPORT", "ID_CARD"], videoRequired: "docapture" },
          { idDocSetType: "SELFIE", videoRequired: "passiveLiveness" },
        ],
      },
    }),
  };

  test("the Sumsub client's `cancel` returns an unknown outcome if a proxy responds to the read with an HTML page and status 404", async () => {
    await using provider = vendor.aSumsubProvider();
    vendor.replies = { "/one": htmlPage(404) };
    expect(await provider.cancel(known, "CANCELED", 3_000)).toMatchObject({ kind: "unknown" });
  });

  test("the Sumsub client's `erase` returns an unknown outcome if a proxy responds to the deactivation with an HTML page and status 404", async () => {
    await using provider = vendor.aSumsubProvider();
    vendor.replies = { "/presence/deactivated": htmlPage(404) };
    expect(await provider.erase(known, 3_000)).toMatchObject({ kind: "unknown" });
  });

  test("the Sumsub client's `get` returns an unknown outcome if a proxy responds to the read of the AML case with an HTML page and status 404", async () => {
    await using provider = vendor.aSumsubProvider();
    vendor.replies = { ...steps, "/one": json(sumsub.anApplicant()), "/amlCase": htmlPage(404) };
    expect(await provider.get(known, 3_000)).toMatchObject({ kind: "unknown" });
  });

  test("the Sumsub client's `cancel` does not return `accepted` if the response to the deactivation contains `deleted: false` or an error code", async () => {
    await using provider = vendor.aSumsubProvider();
    for (const body of [
      { id: sumsub.applicantId, deleted: false },
      { ok: 0, errorCode: 1006 },
    ]) {
      vendor.replies = { ...open, "/presence/deactivated": json(body) };
      expect(await provider.cancel(known, "CANCELED", 3_000)).not.toMatchObject({ kind: "accepted" });
    }
  });

  test("the Sumsub client's `cancel` reports an applicant as closed only after a deactivation, even if Sumsub's read response describes another applicant", async () => {
    await using provider = vendor.aSumsubProvider();
    const otherApplicant = sumsub.anApplicant({ id: "5b594ade0a975a36c9349e99", externalUserId: "other", deleted: true });
    vendor.replies = { ...open, "/one": json(otherApplicant), "/presence/deactivated": json({}) };
    const outcome = await provider.cancel(known, "CANCELED", 3_000);
    const isClosedThere = vendor.calls.some((call) => call.startsWith("PATCH"));
    expect({ isClosedThere, status: outcome.kind === "accepted" && outcome.value.reference === known.reference }).not.toEqual({
      isClosedThere: false,
      status: true,
    });
  });

  test("the Sumsub client's `review` returns an unknown outcome if a proxy responds to the decision with an HTML page and status 200", async () => {
    await using provider = vendor.aSumsubProvider();
    const inReview = { ...known, status: "COMPLETED", awaitsReview: true, providerVerdict: "NEEDS_REVIEW" } as const;
    vendor.replies = { ...onHold, "/approve": htmlPage(200) };
    expect(await provider.review(inReview, approval, 3_000)).toMatchObject({ kind: "unknown" });
  });

  test("the Sumsub client's `create` returns an unknown outcome if Sumsub responds with 409 to the creation and 404 to the search", async () => {
    await using provider = vendor.aSumsubProvider();
    vendor.replies = { ...setup, "/resources/applicants": json({ code: 409 }, 409), "/one": json({ code: 404 }, 404) };
    expect(await provider.create(anApplicationToCreate({ reference: sumsub.reference }), 3_000)).toMatchObject({
      kind: "unknown",
    });
  });

  test("the Sumsub client's `create` reads the configuration again and succeeds if the previous call could not read a level", async () => {
    await using provider = vendor.aSumsubProvider();
    const created = {
      "/resources/applicants": json({ id: sumsub.applicantId }, 201),
      "/websdkLink": json({ url: "https://x.test/l" }),
    };
    vendor.replies = { ...created, "/levels": setup["/levels"], "/levels/l1": htmlPage(503) };
    expect(await provider.create(anApplicationToCreate({ reference: sumsub.reference }), 3_000)).toMatchObject({
      kind: "unknown",
    });
    vendor.replies = { ...created, ...setup };
    expect(await provider.create(anApplicationToCreate({ reference: sumsub.reference }), 3_000)).toMatchObject({
      kind: "accepted",
    });
  });

  test("evaluate returns NEEDS_REVIEW for an approved Sumsub applicant if neither the settings nor the response contain a level name", () => {
    const applicant = sumsub.withReview({ levelName: undefined });
    const review = readReview(applicant);
    const responses = { applicant, steps: sumsub.someSteps(), amlCase: sumsub.anAmlCase() };
    const state = review && readApplicant(review, responses, known, undefined);
    const terms = { requireVideo: true, allowedDocuments: ["id_card", "passport"] } as const;
    expect(state && evaluate(state.verdict, state, terms, "2026-05-02").verdict).toBe("NEEDS_REVIEW");
  });
});

describe("the client of Didit", () => {
  const known = { ...anApplication().toKnownApplication(), providerId: didit.sessionId, reference: didit.reference };
  const inReview = { ...known, status: "COMPLETED", awaitsReview: true, providerVerdict: "NEEDS_REVIEW" } as const;

  test.each([
    ["the read", { "/decision/": htmlPage(404) }],
    ["the deletion", { "/decision/": json(didit.aDecision({ status: "Not Started" })), "/delete/": htmlPage(404) }],
  ])(
    "the Didit client's `cancel` returns an unknown outcome if a proxy responds with an HTML page and status 404 to %s",
    async (_call, list) => {
      await using provider = vendor.aDiditProvider();
      vendor.replies = list;
      expect(await provider.cancel(known, "CANCELED", 3_000)).toMatchObject({ kind: "unknown" });
    },
  );

  test.each([
    ["the session, with status 404", { "/users/delete/": json({ deleted: 1 }), "/delete/": htmlPage(404) }],
    ["the user, with status 404", { "/users/delete/": htmlPage(404), "/delete/": [204, ""] as Reply }],
    ["the user, with status 202", { "/users/delete/": htmlPage(202), "/delete/": [204, ""] as Reply }],
  ])(
    "the Didit client's `erase` returns an unknown outcome if a proxy responds with an HTML page to the deletion of %s",
    async (_what, list) => {
      await using provider = vendor.aDiditProvider();
      vendor.replies = list;
      expect(await provider.erase(known, 3_000)).toMatchObject({ kind: "unknown" });
    },
  );

  test("the Didit client's `cancel` for the reason USED_UP reports a session as closed only after a deletion, even if Didit's read response describes another session", async () => {
    await using provider = vendor.aDiditProvider();
    const otherSession = didit.aDecision({ session_id: "7a4a3a8e-5f0e-4b6e-9b5c-222222222222", vendor_data: "other" });
    vendor.replies = { "/decision/": json(otherSession), "/delete/": [204, ""] };
    const outcome = await provider.cancel({ ...known, status: "FAILED", attemptsUsed: 1 }, "USED_UP", 3_000);
    const isClosedThere = vendor.calls.some((call) => call.startsWith("DELETE"));
    const isReportedClosed = outcome.kind === "accepted" && outcome.value.reference === known.reference;
    expect({ isClosedThere, isReportedClosed }).not.toEqual({ isClosedThere: false, isReportedClosed: true });
  });

  test("the Didit client's `review` returns an unknown outcome if a proxy responds to the decision with an HTML page and status 200", async () => {
    await using provider = vendor.aDiditProvider();
    vendor.replies = { "/update-status/": htmlPage(200), "/decision/": json(didit.aDecision({ status: "In Review" })) };
    expect(await provider.review(inReview, approval, 3_000)).toMatchObject({ kind: "unknown" });
  });

  test("the Didit client's `get` returns NEEDS_REVIEW during a review if a later status change revoked a person's approval", async () => {
    await using provider = vendor.aDiditProvider();
    const reviews = [
      didit.aReview({ previous_status: "Approved", new_status: "Resubmitted", created_at: "2026-05-02T10:00:00Z" }),
      didit.aReview({ created_at: "2026-05-01T10:00:00Z" }),
    ];
    vendor.replies = { "/decision/": json(didit.aDecision()), "/reviews/": json({ results: reviews }) };
    const outcome = await provider.get(inReview, 3_000);
    expect(outcome).toMatchObject({ kind: "accepted", value: { verdict: "NEEDS_REVIEW" } });
  });

  test("the Didit client's `get` returns NEEDS_REVIEW during a review if reviews are listed oldest first and a later page may contain a newer review", async () => {
    await using provider = vendor.aDiditProvider();
    const results = Array.from({ length: 10 }, (_, day) =>
      didit.aReview({ created_at: `2026-05-0${Math.min(day + 1, 9)}T10:00:00Z` }),
    );
    const next = "https://verification.didit.me/v3/sessions/x/reviews/?offset=10";
    vendor.replies = { "/decision/": json(didit.aDecision()), "/reviews/": json({ count: 11, next, previous: null, results }) };
    const outcome = await provider.get(inReview, 3_000);
    expect(outcome).toMatchObject({ kind: "accepted", value: { verdict: "NEEDS_REVIEW" } });
  });
});
