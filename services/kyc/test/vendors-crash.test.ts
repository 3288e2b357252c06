import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { createRpcClient } from "@amana/rpc";
import { callUntilKilled, startTestProcess } from "@amana/service-host/testing";
import { aBusinessCaller, adminCaller, withIdempotencyKey } from "@amana/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Harness, kycSettings, startHarness } from "./harness.ts";

const faultPoints = {
  didit: { create: ["kyc_create.answered", "application.linked"], cancel: ["kyc_get.answered", "kyc_cancel.answered"] },
  sumsub: {
    create: ["kyc_create.answered", "kyc_link.answered", "application.linked"],
    cancel: ["kyc_steps.answered", "kyc_cancel.answered"],
  },
} as const;

describe.each(["didit", "sumsub"] as const)("contract test 14: kyc with %s, killed between two calls to the vendor", (vendor) => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness({ provider: vendor });
  });
  afterAll(() => harness[Symbol.asyncDispose]());

  async function callAndKill(faultPoint: string, call: (kyc: Harness["kyc"]) => Promise<unknown>) {
    const killedProcess = await startTestProcess("kyc", {
      DATABASE_URL: harness.databaseUrl,
      ...kycSettings(harness.sandbox.url, harness.callbacks.url, vendor),
      FAULT_POINT: faultPoint,
    });
    const isReady = (kyc: Harness["kyc"]) => kyc.listKycApplications({ limit: 1 }, { caller: aBusinessCaller() });
    await callUntilKilled(killedProcess, createRpcClient(KycApplicationService, killedProcess.channel), isReady, call);
  }

  test.each(faultPoints[vendor].create)(
    `createKycApplication stores only one application for the repeated Idempotency-Key if kyc with ${vendor} was killed at %s`,
    async (faultPoint) => {
      const caller = aBusinessCaller();
      const create = (kyc: Harness["kyc"]) =>
        kyc.createKycApplication({ externalId: "x" }, { ...withIdempotencyKey(caller, "k"), timeoutMs: 20_000 });
      await callAndKill(faultPoint, create);
      // Ends the killed process's hold of the Idempotency-Key.
      await harness.sql("update idempotency_key set held_until = now() where scope = ?", [caller.businessId]);
      const application = await create(harness.kyc);
      expect(await create(harness.kyc)).toEqual(application);
      await harness.sandbox.submit(application.linkUrl, { outcome: "approved" });
      expect(await harness.readRefreshed(application.id, caller)).toMatchObject({ verdict: KycVerdict.APPROVED });
      expect(await harness.readEventNames(application.id)).toEqual(["CREATED", "COMPLETED"]);
    },
  );

  test.each(faultPoints[vendor].cancel)(
    `cancelKycApplication, when it is repeated, closes the link and emits one event if kyc with ${vendor} was killed at %s`,
    async (faultPoint) => {
      const caller = aBusinessCaller();
      const { id, linkUrl } = await harness.create(caller);
      const cancel = (kyc: Harness["kyc"]) =>
        kyc.cancelKycApplication({ id }, { ...withIdempotencyKey(caller, "k"), timeoutMs: 20_000 });
      await callAndKill(faultPoint, cancel);
      expect(await cancel(harness.kyc)).toMatchObject({ id, status: KycStatus.CANCELED });
      expect(await harness.readEventNames(id)).toEqual(["CREATED", "CANCELED"]);
      await expect(harness.sandbox.submit(linkUrl, { outcome: "approved" })).rejects.toThrow("409");
    },
  );

  test.each(["kyc_review.answered", "review.answered"])(
    `kyc with ${vendor} emits one KYC event and one audit event for an operator's repeated decision if kyc was killed at %s`,
    async (faultPoint) => {
      const { id } = await harness.aDecidedApplication({ outcome: "needs_review", reason_codes: ["DUPLICATE"] });
      const review = (kyc: Harness["kyc"]) =>
        kyc.reviewKycApplication(
          { id, outcome: KycVerdict.APPROVED, note: "seen" },
          withIdempotencyKey(adminCaller, `${vendor}-${faultPoint}`),
        );
      await callAndKill(faultPoint, review);
      await harness.sql("update kyc_application set next_check_at = now() where id = ?", [id]);
      await harness.checkDue();
      expect(await review(harness.kyc)).toMatchObject({ id, verdict: KycVerdict.APPROVED });
      expect(await harness.readEventNames(id)).toEqual(["CREATED", "NEEDS_REVIEW", "REVIEW_RESOLVED"]);
      expect(await harness.readAuditEvents(id)).toHaveLength(1);
    },
  );
});
