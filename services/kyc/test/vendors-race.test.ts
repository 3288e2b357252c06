import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { allBusinesses, databaseTime, transaction } from "@amana/database";
import { allTenants, forTenant } from "@amana/runtime";
import { aBusinessCaller, adminCaller } from "@amana/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { KycApplication } from "../src/kyc-application/kyc-application.ts";
import { lockApplication, queryProvider, recordState, syncApplication } from "../src/kyc-application/sync-application.ts";
import { type Harness, startHarness } from "./harness.ts";

let harness: Harness;
const timeoutMs = 10_000;
const readStored = async (id: string) =>
  (await harness.sql<Record<string, unknown>>("select * from kyc_application where id = ?", [id]))[0];

const sync = (id: string) => forTenant(allTenants, () => syncApplication(harness.context, id, timeoutMs));

/**
 * Prepares a read at the vendor in three phases, so that a test controls the order. This function
 * stores the start of the request, `read` sends the request, and the function that `read` returns
 * records the response.
 */
async function readAtVendor(id: string) {
  const { context } = harness;
  const em = context.orm.em.fork();
  const application = await forTenant(allTenants, () => em.findOneOrFail(KycApplication, { id }));
  const start = { at: await databaseTime(em), nextCheckAt: application.nextCheckAt };
  return {
    read: async () => {
      const outcome = await queryProvider(context, application, { closing: undefined }, timeoutMs);
      return () =>
        forTenant(allTenants, () =>
          transaction(context.orm, async (em) =>
            recordState(em, context, await lockApplication(em, allBusinesses, id), outcome, start),
          ),
        );
    },
  };
}

describe.each(["didit", "sumsub"] as const)("kyc with %s", (vendor) => {
  beforeAll(async () => {
    harness = await startHarness({ provider: vendor });
  });
  afterAll(() => harness[Symbol.asyncDispose]());
  afterEach(() => harness.sandbox.clearFaults());

  test(`kyc with ${vendor} keeps a review open if kyc read an API key's approval before it recorded the review`, async () => {
    const { id, linkUrl } = await harness.create();
    await harness.sandbox.submit(linkUrl, { outcome: "needs_review", reason_codes: ["DUPLICATE"] });
    const recordReview = await (await readAtVendor(id)).read();
    const secondRead = await readAtVendor(id);
    await harness.sandbox.review(linkUrl, "approved", "api");
    const recordApproval = await secondRead.read();
    await recordReview();
    expect(await readStored(id)).toMatchObject({ verdict: "NEEDS_REVIEW" });
    await recordApproval();
    expect(await readStored(id)).toMatchObject({ verdict: "NEEDS_REVIEW", reviewed_at: null });
    await harness.checkDue();
    expect(await readStored(id)).toMatchObject({ verdict: "NEEDS_REVIEW", reviewed_at: null });
  });

  test(`kyc with ${vendor}, for an approval that it read before it recorded the review, stores APPROVED only if a check proves that a person approved`, async () => {
    const { id, linkUrl } = await harness.create();
    await harness.sandbox.submit(linkUrl, { outcome: "needs_review", reason_codes: ["DUPLICATE"] });
    const recordReview = await (await readAtVendor(id)).read();
    const secondRead = await readAtVendor(id);
    await harness.sandbox.review(linkUrl, "approved", "console");
    const recordApproval = await secondRead.read();
    await recordReview();
    await recordApproval();
    await harness.checkDue();
    const verdict = vendor === "didit" ? "APPROVED" : "NEEDS_REVIEW";
    expect(await readStored(id)).toMatchObject({ verdict });
  });

  test(`kyc with ${vendor} stores the status CANCELED even if it first records a read that began after the cancellation request`, async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    const provider = harness.context.providers.current;
    const cancel = vi.spyOn(provider, "cancel");
    cancel.mockImplementation(async (known, why, ms) => {
      await harness.sandbox.open(linkUrl);
      await sync(id);
      cancel.mockRestore();
      return await provider.cancel(known, why, ms);
    });
    expect(await harness.kyc.cancelKycApplication({ id }, { caller, timeoutMs: 20_000 })).toMatchObject({
      status: KycStatus.CANCELED,
    });
    expect(await readStored(id)).toMatchObject({ status: "CANCELED", next_check_at: null });
  });

  test(`kyc with ${vendor} stores an operator's decision even if it records an outdated state before the decision is committed`, async () => {
    const { id } = await harness.aDecidedApplication({ outcome: "needs_review", reason_codes: ["DUPLICATE"] });
    const provider = harness.context.providers.current;
    const review = vi.spyOn(provider, "review");
    review.mockImplementation(async (known, decision, ms) => {
      // Simulates another check that reads the state before the vendor applies the decision, and
      // records this state after the decision.
      const outdatedRead = await readAtVendor(id);
      const record = await outdatedRead.read();
      review.mockRestore();
      const outcome = await provider.review(known, decision, ms);
      await harness.sql("update kyc_application set provider_state_hash = 'other' where id = ?", [id]);
      await record();
      return outcome;
    });
    const decided = await harness.kyc.reviewKycApplication(
      { id, outcome: KycVerdict.REJECTED, note: "checked" },
      { caller: adminCaller, timeoutMs: 20_000 },
    );
    expect(decided).toMatchObject({ verdict: KycVerdict.REJECTED });
    expect(await harness.readAuditEvents(id)).toHaveLength(1);
  });

  test(`kyc with ${vendor} logs no error when it reads an application that an operator rejected`, async () => {
    const { id } = await harness.aDecidedApplication({ outcome: "needs_review", reason_codes: ["DUPLICATE"] });
    await harness.kyc.reviewKycApplication(
      { id, outcome: KycVerdict.REJECTED, note: "checked" },
      { caller: adminCaller, timeoutMs: 20_000 },
    );
    const error = vi.spyOn(harness.context.logger, "error");
    await sync(id);
    expect(error.mock.calls).toEqual([]);
    error.mockRestore();
  });
});

describe("kyc with sumsub", () => {
  beforeAll(async () => {
    harness = await startHarness({ provider: "sumsub" });
  });
  afterAll(() => harness[Symbol.asyncDispose]());
  afterEach(() => harness.sandbox.clearFaults());

  test("kyc with sumsub completes a submitted application with NEEDS_REVIEW after the link's expiry if Sumsub returns status 404", async () => {
    const { id, linkUrl } = await harness.create();
    await harness.sandbox.submit(linkUrl, { outcome: "approved", hold_seconds: 600 });
    await sync(id);
    await harness.sandbox.fault("kyc_get", "error:404", 10);
    await sync(id);
    expect(await readStored(id)).toMatchObject({ status: "PROCESSING" });
    await harness.sql("update kyc_application set link_expires_at = now() - interval '2 min' where id = ?", [id]);
    await sync(id);
    expect(await readStored(id)).toMatchObject({ status: "COMPLETED", verdict: "NEEDS_REVIEW", reviewed_at: null });
    expect(await harness.readEventNames(id)).toContain("NEEDS_REVIEW");
    const decided = await harness.kyc.reviewKycApplication(
      { id, outcome: KycVerdict.REJECTED, note: "deleted at the vendor" },
      { caller: adminCaller, timeoutMs: 20_000 },
    );
    expect(decided).toMatchObject({ verdict: KycVerdict.REJECTED });
  });

  test("kyc with sumsub sets the status EXPIRED and closes the link if it reads a failed attempt after the link's expiry", async () => {
    const { id, linkUrl } = await harness.create();
    await harness.sandbox.submit(linkUrl, { outcome: "failed", hold_seconds: 5 });
    await sync(id);
    expect(await readStored(id)).toMatchObject({ status: "PROCESSING" });
    await harness.sql("update kyc_application set link_expires_at = now() - interval '2 min' where id = ?", [id]);
    await vi.waitFor(
      async () => {
        await sync(id);
        expect((await readStored(id))?.["status"]).not.toBe("PROCESSING");
      },
      { timeout: 60_000, interval: 300 },
    );
    await harness.checkDue();
    expect(await readStored(id)).toMatchObject({ status: "EXPIRED", next_check_at: null });
    await expect(harness.sandbox.submit(linkUrl, { outcome: "approved" })).rejects.toThrow("409");
  });
});
