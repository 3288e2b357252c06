import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { createRpcClient } from "@amana/rpc";
import { callUntilKilled, startTestProcess } from "@amana/service-host/testing";
import { aBusinessCaller, adminCaller, eventually, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Harness, kycSettings, startHarness } from "./harness.ts";

type Caller = ReturnType<typeof aBusinessCaller>;

/**
 * A kyc service in the test's own process, which continues to run when the other kyc process is
 * killed.
 */
let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

const startProcess = (faultPoint: string) =>
  startTestProcess("kyc", {
    DATABASE_URL: harness.databaseUrl,
    ...kycSettings(harness.sandbox.url, harness.callbacks.url),
    // Effectively disables the job `catchUp`, so that only the calls of the test have an effect.
    KYC_CATCH_UP_SECONDS: "3600",
    FAULT_POINT: faultPoint,
  });

const isReady = (caller: Caller) => (kyc: Harness["kyc"]) => kyc.listKycApplications({ limit: 1 }, { caller });

async function callAndKill(faultPoint: string, caller: Caller, call: (kyc: Harness["kyc"]) => Promise<unknown>) {
  const killedProcess = await startProcess(faultPoint);
  await callUntilKilled(killedProcess, createRpcClient(KycApplicationService, killedProcess.channel), isReady(caller), call);
}

const readApplications = (businessId: string) =>
  harness.sql("select id from kyc_application where business_id = ?", [businessId]);

test.each([
  ["kyc_create.answered", "between the provider's response and the commit", 0],
  ["application.linked", "right before the commit", 0],
  ["application.committed", "after the commit and before the response", 1],
])(
  "createKycApplication creates only one application for the repeated Idempotency-Key if kyc was killed at %s (%s)",
  async (faultPoint, _when, committedCount) => {
    const caller = aBusinessCaller();
    const create = (kyc: Harness["kyc"]) => kyc.createKycApplication({ externalId: "x" }, withIdempotencyKey(caller, "k"));
    await callAndKill(faultPoint, caller, create);
    expect(await readApplications(caller.businessId)).toHaveLength(committedCount);
    if (committedCount === 0) expect(await refusal(create(harness.kyc))).toMatchObject({ code: "idempotency_in_progress" });
    // Ends the killed process's hold of the Idempotency-Key.
    await harness.sql("update idempotency_key set held_until = now() where scope = ?", [caller.businessId]);

    const application = await create(harness.kyc);
    expect(await create(harness.kyc)).toEqual(application);
    expect(await readApplications(caller.businessId)).toEqual([{ id: application.id }]);
    const { calls } = await harness.sandbox.application(application.id);
    const references = calls.map(({ parameters }) => parameters["reference"]).filter((reference) => reference !== undefined);
    expect(new Set(references)).toEqual(new Set([application.id]));
    expect(await harness.readEventNames(application.id)).toEqual(["CREATED"]);
  },
);

test.each(["kyc_cancel.answered", "cancel.answered", "cancel.committed"])(
  "cancelKycApplication with the repeated Idempotency-Key cancels the application and emits one event if kyc was killed at %s",
  async (faultPoint) => {
    const caller = aBusinessCaller();
    const { id } = await harness.create(caller);
    const cancel = (kyc: Harness["kyc"]) => kyc.cancelKycApplication({ id }, withIdempotencyKey(caller, "k"));
    await callAndKill(faultPoint, caller, cancel);
    // Simulates that the business reads the application before it repeats the request. The read
    // records the cancellation.
    await harness.readRefreshed(id, caller);
    expect(await cancel(harness.kyc)).toMatchObject({ id, status: KycStatus.CANCELED });
    expect(await harness.readEventNames(id)).toEqual(["CREATED", "CANCELED"]);
  },
);

test.each(["kyc_review.answered", "review.answered", "review.committed"])(
  "kyc emits one KYC event and one audit event for an operator's repeated decision if kyc was killed at %s",
  async (faultPoint) => {
    const caller = aBusinessCaller();
    const { id } = await harness.aDecidedApplication({ outcome: "needs_review" }, caller);
    const review = (kyc: Harness["kyc"]) =>
      kyc.reviewKycApplication({ id, outcome: KycVerdict.APPROVED, note: "seen" }, withIdempotencyKey(adminCaller, faultPoint));
    await callAndKill(faultPoint, caller, review);
    await harness.readRefreshed(id, caller);
    expect(await harness.readAuditEvents(id)).toMatchObject([
      { actor: adminCaller.role === "admin" ? adminCaller.keyPrefix : "" },
    ]);
    expect(await review(harness.kyc)).toMatchObject({ id, verdict: KycVerdict.APPROVED });
    expect(await harness.readEventNames(id)).toEqual(["CREATED", "NEEDS_REVIEW", "REVIEW_RESOLVED"]);
    expect(await harness.readAuditEvents(id)).toHaveLength(1);
  },
);

test("kyc audits an operator's decision and rejects another operator's decision if kyc was killed after it had sent the first decision", async () => {
  const { id } = await harness.aDecidedApplication({ outcome: "needs_review" });
  const review = (kyc: Harness["kyc"], outcome: KycVerdict, options: ReturnType<typeof withIdempotencyKey>) =>
    kyc.reviewKycApplication({ id, outcome, note: "seen" }, options);
  await callAndKill("kyc_review.answered", aBusinessCaller(), (kyc) =>
    review(kyc, KycVerdict.APPROVED, withIdempotencyKey(adminCaller, "k")),
  );
  const otherOperator = { ...adminCaller, keyId: "018f0000-0000-7000-8000-000000000002", keyPrefix: "ak_another" } as const;
  // Moves the killed request's deadline into the past, so that another operator can decide.
  await harness.sql("update kyc_application set review_request = jsonb_set(review_request, '{untilMs}', '0') where id = ?", [id]);
  expect(await refusal(review(harness.kyc, KycVerdict.REJECTED, withIdempotencyKey(otherOperator, "k", "f2")))).toMatchObject({
    code: "kyc_review_not_open",
  });
  expect(await harness.readAuditEvents(id)).toMatchObject([{ actor: "ak_test", after: { fields: { verdict: "APPROVED" } } }]);
  expect(await refusal(review(harness.kyc, KycVerdict.REJECTED, withIdempotencyKey(adminCaller, "k", "f2")))).toMatchObject({
    code: "idempotency_key_reused",
  });
  expect(await review(harness.kyc, KycVerdict.APPROVED, withIdempotencyKey(adminCaller, "k"))).toMatchObject({ id });
});

test.each(["callback.answered", "callback.committed"])(
  "kyc changes the application and emits the event only once for a repeated callback if kyc was killed at %s",
  async (faultPoint) => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    {
      await using killedProcess = await startProcess(faultPoint);
      const kyc = createRpcClient(KycApplicationService, killedProcess.channel);
      await eventually(() => isReady(caller)(kyc));
      const survivingService = harness.callbackTarget.kyc;
      harness.callbackTarget.kyc = kyc;
      harness.callbackTarget.isReachable = true;
      await harness.sandbox.submit(linkUrl, { outcome: "approved", hold_seconds: 0 });
      expect(await killedProcess.exited).toEqual([null, "SIGKILL"]);
      if (survivingService) harness.callbackTarget.kyc = survivingService;
    }
    await eventually(async () => expect(await harness.readEventNames(id)).toEqual(["CREATED", "COMPLETED"]));
    await eventually(async () => {
      const { callbacks } = await harness.sandbox.application(id);
      expect(callbacks.map(({ state }) => state)).not.toContain("pending");
    });
    expect(await harness.readEventNames(id)).toEqual(["CREATED", "COMPLETED"]);
    harness.callbackTarget.isReachable = false;
  },
);
