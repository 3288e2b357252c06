import { ClientKycStatus } from "@amana/contracts/clients/v1/client_pb";
import { OnboardingStep, OverallStatus } from "@amana/contracts/clients/v1/onboarding_pb";
import { OnboardingDecision } from "@amana/contracts/clients/v1/onboarding_service_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aKycEvent } from "../../test/a-kyc-event.ts";
import { aDetailsRequest, type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

type Options = Parameters<Harness["onboarding"]["decideOnboarding"]>[1];
const approve = (clientId: string, options: Options = { caller: adminCaller }, reason?: string) =>
  harness.onboarding.decideOnboarding({ clientId, decision: OnboardingDecision.APPROVED, reason }, options);
const decline = (clientId: string, options: Options = { caller: adminCaller }, reason?: string) =>
  harness.onboarding.decideOnboarding({ clientId, decision: OnboardingDecision.DECLINED, reason }, options);

const aVerifiedClient = async () => {
  const caller = aBusinessCaller();
  const { id: clientId } = await harness.createPerson(caller);
  await harness.onboarding.createOnboardingDetails({ clientId, ...aDetailsRequest() }, { caller });
  await harness.publish(aKycEvent({ ...caller, clientId, status: "COMPLETED", verdict: "APPROVED" }));
  const status = () => harness.onboarding.getOnboarding({ clientId }, { caller });
  return { caller, clientId, status };
};

test("decideOnboarding with APPROVED changes the step to APPROVED", async () => {
  const { clientId, caller, status } = await aVerifiedClient();
  const approved = await approve(clientId);
  expect(approved).toMatchObject({
    clientId,
    currentStep: OnboardingStep.APPROVED,
    kycStatus: ClientKycStatus.VALIDATED,
    overallStatus: OverallStatus.APPROVED,
  });
  expect(await status()).toEqual(approved);
  expect((await harness.clients.getClient({ id: clientId }, { caller })).kycStatus).toBe(ClientKycStatus.VALIDATED);
});

test("decideOnboarding with DECLINED changes the step to KYC_DECLINED until a newer application", async () => {
  const { clientId, caller, status } = await aVerifiedClient();
  const declined = await decline(clientId);
  expect(declined).toMatchObject({
    currentStep: OnboardingStep.KYC_DECLINED,
    kycStatus: ClientKycStatus.DECLINED,
    overallStatus: OverallStatus.DECLINED,
  });
  expect(await status()).toEqual(declined);
  expect((await harness.clients.getClient({ id: clientId }, { caller })).kycStatus).toBe(ClientKycStatus.DECLINED);
  await harness.publish(aKycEvent({ ...caller, clientId, createdAtMs: Date.parse("2027-01-01T00:00:00Z") }));
  expect(await status()).toMatchObject({ currentStep: OnboardingStep.KYC_PENDING, kycStatus: ClientKycStatus.CREATED });
});

test.each([
  ["no value", OnboardingDecision.UNSPECIFIED, "validation_failed"],
  ["a value of a newer version", 99 as OnboardingDecision, "service_unavailable"],
])("decideOnboarding rejects %s as the decision and decides nothing", async (_name, decision, code) => {
  const { clientId, status } = await aVerifiedClient();
  const before = await status();
  const request = harness.onboarding.decideOnboarding({ clientId, decision }, { caller: adminCaller });
  expect(await refusal(request)).toMatchObject({ code });
  expect(await status()).toEqual(before);
});

describe.each([
  ["approval", approve, "APPROVED", "onboarding.approved"],
  ["refusal", decline, "KYC_DECLINED", "onboarding.declined"],
] as const)("decideOnboarding, %s", (name, decide, step, action) => {
  test("writes one audit row with the operator and the step before and after", async () => {
    const { clientId, caller, status } = await aVerifiedClient();
    await decide(clientId, { caller: adminCaller, requestId: "request-1", address: "192.0.2.1" });
    const { id } = await status();
    expect(await harness.audited(id)).toMatchObject([
      {
        actor: "ak_test",
        action,
        entityType: "onboarding",
        entityId: id,
        businessId: caller.businessId,
        before: { fields: { client_id: clientId, current_step: "PENDING_APPROVAL" } },
        after: { fields: { client_id: clientId, current_step: step } },
        requestId: "request-1",
        address: "192.0.2.1",
      },
    ]);
  });

  test("rejects a second decision without a second audit row", async () => {
    const { clientId, status } = await aVerifiedClient();
    await decide(clientId);
    for (const again of [approve, decline]) {
      expect(await refusal(again(clientId))).toMatchObject({
        kind: "conflict",
        code: "invalid_status_transition",
        members: { current_step: step },
      });
    }
    expect(await harness.audited((await status()).id)).toHaveLength(1);
  });

  test("returns the same response for the same Idempotency-Key, with one audit row", async () => {
    const { clientId } = await aVerifiedClient();
    const first = await decide(clientId, withIdempotencyKey(adminCaller, `${name}-${clientId}`));
    const again = withIdempotencyKey(adminCaller, `${name}-${clientId}`);
    expect(await decide(clientId, again)).toEqual(first);
    expect(again.replayed).toBe(true);
    expect(await harness.audited(first.id)).toHaveLength(1);
  });

  test("rejects a decision at another step without an audit row", async () => {
    const caller = aBusinessCaller();
    const { id: clientId } = await harness.createPerson(caller);
    expect(await refusal(decide(clientId))).toMatchObject({
      code: "invalid_status_transition",
      members: { current_step: "DETAILS_PENDING" },
    });
    const { id } = await harness.onboarding.getOnboarding({ clientId }, { caller });
    expect(await harness.audited(id)).toEqual([]);
  });

  test("rejects the business of the client", async () => {
    const { clientId, caller, status } = await aVerifiedClient();
    for (const id of [clientId, uuidv7()]) {
      expect(await refusal(decide(id, { caller }))).toMatchObject({ kind: "forbidden", code: "admin_required" });
    }
    expect(await status()).toMatchObject({ currentStep: OnboardingStep.PENDING_APPROVAL });
  });

  test("returns the same error for an unknown id and a malformed id", async () => {
    const unknown = await refusal(decide(uuidv7()));
    expect(unknown).toMatchObject({ kind: "not_found", code: "not_found" });
    expect(await refusal(decide("nonsense"))).toEqual(unknown);
  });
});

test.each([approve, decline])(
  "decideOnboarding stores the reason in the audit row, without personal data of the client",
  async (decide) => {
    const { clientId, status } = await aVerifiedClient();
    await decide(clientId, { caller: adminCaller }, "Sanctions list");
    const records = await harness.audited((await status()).id);
    expect(records).toMatchObject([{ reason: "Sanctions list" }]);
    const text = JSON.stringify(records, (_, value) => (typeof value === "bigint" ? String(value) : value));
    for (const personal of ["Amina", "Benali", "example.dz", "1990-05-17"]) expect(text).not.toContain(personal);
  },
);

test("decideOnboarding accepts one of a concurrent approval and refusal", async () => {
  const { clientId, status } = await aVerifiedClient();
  const results = await Promise.allSettled([approve(clientId), decline(clientId)]);
  expect(results.map((result) => result.status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(await harness.audited((await status()).id)).toHaveLength(1);
});
