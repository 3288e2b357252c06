import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Harness, startHarness } from "./harness.ts";

describe.each(["didit", "sumsub"] as const)("%s", (provider) => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness({ provider });
  });
  afterAll(() => harness[Symbol.asyncDispose]());

  test("createKycApplication creates an application at the vendor, whose link the applicant can open", async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    expect(await harness.readRefreshed(id, caller)).toMatchObject({ status: KycStatus.CREATED });
    await harness.sandbox.open(linkUrl);
    // Sumsub does not report that a link was opened.
    const opened = provider === "didit" ? KycStatus.OPENED : KycStatus.CREATED;
    expect(await harness.readRefreshed(id, caller)).toMatchObject({ status: opened });
  });

  test.each([
    ["approved", KycVerdict.APPROVED],
    ["rejected", KycVerdict.REJECTED],
    ["needs_review", KycVerdict.NEEDS_REVIEW],
  ] as const)("an application with the vendor's outcome %s gets the verdict %s", async (outcome, verdict) => {
    expect(await harness.aDecidedApplication({ outcome })).toMatchObject({ status: KycStatus.COMPLETED, verdict });
  });
});
