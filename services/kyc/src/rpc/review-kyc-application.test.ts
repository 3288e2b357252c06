import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import type { Caller } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";
import { repair } from "../repair.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

const asAdmin = { caller: adminCaller, requestId: "request-1", address: "192.0.2.7", timeoutMs: 20_000 };
const otherOperator: Caller = { role: "admin", keyId: "018f0000-0000-7000-8000-000000000002", keyPrefix: "ak_another" };
const review = (id: string, outcome: KycVerdict = KycVerdict.APPROVED, options: object = asAdmin) =>
  harness.kyc.reviewKycApplication({ id, outcome, note: "seen the file" }, options as typeof asAdmin);
const countReviews = async (id: string) =>
  (await harness.sandbox.application(id)).calls.filter(({ operation }) => operation === "kyc_review").length;

describe("reviewKycApplication", () => {
  test.each([
    [KycVerdict.APPROVED, "APPROVED"],
    [KycVerdict.REJECTED, "REJECTED"],
  ] as const)(
    "reviewKycApplication sends the decision with the enum number %i to the provider, and emits one KYC event and one audit event",
    async (outcome, verdict) => {
      const { id, businessId } = await harness.aDecidedApplication({ outcome: "needs_review", aml_hit_count: 2 });
      const reviewedApplication = await review(id, outcome);
      expect(reviewedApplication).toMatchObject({ id, status: KycStatus.COMPLETED, verdict: outcome, amlHitCount: 2 });
      expect(reviewedApplication).not.toHaveProperty("linkUrl");
      const [call] = (await harness.sandbox.application(id)).calls.filter(({ operation }) => operation === "kyc_review");
      expect(call?.parameters).toMatchObject({ outcome: verdict, reviewer: "ak_test", note: "seen the file" });
      expect(await harness.readEventNames(id)).toEqual(["CREATED", "NEEDS_REVIEW", "REVIEW_RESOLVED"]);
      const lastEvent = (await harness.readEvents(id)).at(-1);
      expect(lastEvent?.application).toMatchObject({ verdict: outcome });
      expect(await harness.readAuditEvents(id)).toMatchObject([
        {
          actor: "ak_test",
          action: "kyc_application.reviewed",
          entityType: "kyc_application",
          entityId: id,
          businessId,
          before: { fields: { verdict: "NEEDS_REVIEW" } },
          after: { fields: { verdict } },
          requestId: "request-1",
          address: "192.0.2.7",
          reason: "seen the file",
        },
      ]);
      expect(await refusal(review(id, outcome))).toMatchObject({ kind: "conflict", code: "kyc_review_not_open" });
    },
  );

  test("reviewKycApplication stores the decision without a call to the provider if only Amana's rules require the review", async () => {
    const caller = aBusinessCaller();
    const { id } = await harness.aDecidedApplication({ outcome: "approved", aml_hit_count: 1 }, caller);
    expect(await review(id)).toMatchObject({ verdict: KycVerdict.APPROVED });
    expect(await countReviews(id)).toBe(0);
    expect(await harness.readRefreshed(id, caller)).toMatchObject({ verdict: KycVerdict.APPROVED });
    expect(await harness.readEventNames(id)).toEqual(["CREATED", "NEEDS_REVIEW", "REVIEW_RESOLVED"]);
    expect(await harness.readAuditEvents(id)).toHaveLength(1);
  });

  test.each(["approved", "rejected"] as const)(
    "reviewKycApplication throws kyc_review_not_open for an application whose verdict is %s",
    async (outcome) => {
      const { id } = await harness.aDecidedApplication({ outcome });
      expect(await refusal(review(id))).toMatchObject({ kind: "conflict", code: "kyc_review_not_open" });
      expect(await harness.readAuditEvents(id)).toEqual([]);
    },
  );

  test.each([
    ["the value UNSPECIFIED", KycVerdict.UNSPECIFIED, "validation_failed"],
    ["NEEDS_REVIEW", KycVerdict.NEEDS_REVIEW, "validation_failed"],
    ["a value that only a newer version supports", 99 as KycVerdict, "service_unavailable"],
  ])("reviewKycApplication rejects %s as the outcome and emits no event", async (_name, outcome, code) => {
    const { id } = await harness.aDecidedApplication({ outcome: "approved", aml_hit_count: 1 });
    expect(await refusal(review(id, outcome))).toMatchObject({ code });
    expect(await harness.readEventNames(id)).toEqual(["CREATED", "NEEDS_REVIEW"]);
    expect(await harness.readAuditEvents(id)).toEqual([]);
  });

  test("reviewKycApplication throws kyc_review_not_open for an application without a verdict", async () => {
    const { id } = await harness.create();
    expect(await refusal(review(id))).toMatchObject({ kind: "conflict", code: "kyc_review_not_open" });
  });

  test("reviewKycApplication throws kyc_review_not_open if a person decided earlier at the provider, and stores that decision without an audit event", async () => {
    const { id, linkUrl } = await harness.aDecidedApplication({ outcome: "needs_review" });
    await harness.sandbox.review(linkUrl, "rejected");
    expect(await refusal(review(id))).toMatchObject({ code: "kyc_review_not_open" });
    expect(await harness.sql("select verdict from kyc_application where id = ?", [id])).toEqual([{ verdict: "REJECTED" }]);
    expect(await harness.readEventNames(id)).toEqual(["CREATED", "NEEDS_REVIEW", "REVIEW_RESOLVED"]);
    expect(await harness.readAuditEvents(id)).toEqual([]);
  });

  test("reviewKycApplication returns the stored response for a repeated Idempotency-Key, and emits one audit event", async () => {
    const { id } = await harness.aDecidedApplication({ outcome: "needs_review" });
    const firstResponse = await review(id, KycVerdict.APPROVED, withIdempotencyKey(adminCaller, "k1"));
    const repeatedOptions = withIdempotencyKey(adminCaller, "k1");
    expect(await review(id, KycVerdict.APPROVED, repeatedOptions)).toEqual(firstResponse);
    expect(repeatedOptions.replayed).toBe(true);
    expect(await harness.readAuditEvents(id)).toHaveLength(1);
  });

  test("`amana stuck` lists an operator's KYC decision only if kyc has not stored the review as decided", async () => {
    const { id } = await harness.aDecidedApplication({ outcome: "needs_review" });
    const stuckRows = repair.stuckRows.find(({ what }) => what.startsWith("operators' decisions"));
    const listStuckRows = async () => {
      await harness.sql("update kyc_application set updated_at = now() - interval '11 minutes' where id = ?", [id]);
      return await harness.sql(`select id from kyc_application where ${stuckRows?.where} and id = ?`, [id]);
    };
    await review(id);
    expect(await listStuckRows()).toEqual([]);
    await harness.sql("update kyc_application set reviewed_at = null where id = ?", [id]);
    expect(await listStuckRows()).toEqual([{ id }]);
  });

  test("reviewKycApplication rejects a second decision by another operator, even with the same Idempotency-Key", async () => {
    const { id } = await harness.aDecidedApplication({ outcome: "needs_review" });
    await review(id, KycVerdict.APPROVED, withIdempotencyKey(adminCaller, "k2"));
    expect(await refusal(review(id, KycVerdict.REJECTED, withIdempotencyKey(otherOperator, "k2", "f2")))).toMatchObject({
      code: "kyc_review_not_open",
    });
    expect(await refusal(review(id, KycVerdict.APPROVED, withIdempotencyKey(otherOperator, "k2")))).toMatchObject({
      code: "kyc_review_not_open",
    });
  });

  test("reviewKycApplication rejects a business's key with admin_required, and an unknown or malformed id with not_found", async () => {
    const caller = aBusinessCaller();
    const { id } = await harness.aDecidedApplication({ outcome: "needs_review" }, caller);
    expect(await refusal(review(id, KycVerdict.APPROVED, { caller }))).toMatchObject({
      kind: "forbidden",
      code: "admin_required",
    });
    expect(await refusal(review(uuidv7()))).toMatchObject({ kind: "not_found" });
    expect(await refusal(review("x"))).toMatchObject({ kind: "not_found" });
  });
});

describe("decision at the provider", () => {
  test.each(["approved", "rejected"])(
    "kyc emits KYC_REVIEW_RESOLVED and no audit event after a reviewer at the provider has %s the application",
    async (outcome) => {
      const caller = aBusinessCaller();
      const { id, linkUrl } = await harness.aDecidedApplication({ outcome: "needs_review" }, caller);
      await harness.sandbox.review(linkUrl, outcome);
      expect(await harness.readRefreshed(id, caller)).toMatchObject({ verdict: KycVerdict[outcome.toUpperCase() as "APPROVED"] });
      expect(await harness.readEventNames(id)).toEqual(["CREATED", "NEEDS_REVIEW", "REVIEW_RESOLVED"]);
      expect(await harness.readAuditEvents(id)).toEqual([]);
    },
  );
});
