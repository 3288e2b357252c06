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
  const readOnboarding = () => harness.onboarding.getOnboarding({ clientId }, { caller });
  return { caller, clientId, readOnboarding };
};

test("decideOnboarding with APPROVED changes the step to APPROVED", async () => {
  const { clientId, caller, readOnboarding } = await aVerifiedClient();
  const approvedOnboarding = await approve(clientId);
  expect(approvedOnboarding).toMatchObject({
    clientId,
    currentStep: OnboardingStep.APPROVED,
    kycStatus: ClientKycStatus.VALIDATED,
    overallStatus: OverallStatus.APPROVED,
  });
  expect(await readOnboarding()).toEqual(approvedOnboarding);
  expect((await harness.clients.getClient({ id: clientId }, { caller })).kycStatus).toBe(ClientKycStatus.VALIDATED);
});

test("decideOnboarding with DECLINED changes the step to KYC_DECLINED, and a newer application changes the step to KYC_PENDING", async () => {
  const { clientId, caller, readOnboarding } = await aVerifiedClient();
  const declinedOnboarding = await decline(clientId);
  expect(declinedOnboarding).toMatchObject({
    currentStep: OnboardingStep.KYC_DECLINED,
    kycStatus: ClientKycStatus.DECLINED,
    overallStatus: OverallStatus.DECLINED,
  });
  expect(await readOnboarding()).toEqual(declinedOnboarding);
  expect((await harness.clients.getClient({ id: clientId }, { caller })).kycStatus).toBe(ClientKycStatus.DECLINED);
  await harness.publish(aKycEvent({ ...caller, clientId, createdAtMs: Date.parse("2027-01-01T00:00:00Z") }));
  expect(await readOnboarding()).toMatchObject({ currentStep: OnboardingStep.KYC_PENDING, kycStatus: ClientKycStatus.CREATED });
});

test.each([
  ["the value UNSPECIFIED", OnboardingDecision.UNSPECIFIED, "validation_failed"],
  ["a value that only a newer version supports", 99 as OnboardingDecision, "service_unavailable"],
])("decideOnboarding rejects %s as the decision and does not change the onboarding", async (_name, decision, code) => {
  const { clientId, readOnboarding } = await aVerifiedClient();
  const onboardingBefore = await readOnboarding();
  const request = harness.onboarding.decideOnboarding({ clientId, decision }, { caller: adminCaller });
  expect(await refusal(request)).toMatchObject({ code });
  expect(await readOnboarding()).toEqual(onboardingBefore);
});

describe.each([
  ["approval", approve, "APPROVED", "onboarding.approved"],
  ["decline", decline, "KYC_DECLINED", "onboarding.declined"],
] as const)("decideOnboarding, %s", (name, decide, step, action) => {
  test(`decideOnboarding (${name}) emits one audit event with the operator and with the step before and after the decision`, async () => {
    const { clientId, caller, readOnboarding } = await aVerifiedClient();
    await decide(clientId, { caller: adminCaller, requestId: "request-1", address: "192.0.2.1" });
    const { id } = await readOnboarding();
    expect(await harness.readAuditEvents(id)).toMatchObject([
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

  test(`decideOnboarding rejects a second decision after the first decision (${name}), and emits no second audit event`, async () => {
    const { clientId, readOnboarding } = await aVerifiedClient();
    await decide(clientId);
    for (const decideAgain of [approve, decline]) {
      expect(await refusal(decideAgain(clientId))).toMatchObject({
        kind: "conflict",
        code: "invalid_status_transition",
        members: { current_step: step },
      });
    }
    expect(await harness.readAuditEvents((await readOnboarding()).id)).toHaveLength(1);
  });

  test(`decideOnboarding (${name}) returns the stored response for a repeated Idempotency-Key, and emits one audit event`, async () => {
    const { clientId } = await aVerifiedClient();
    const firstResponse = await decide(clientId, withIdempotencyKey(adminCaller, `${name}-${clientId}`));
    const repeatedOptions = withIdempotencyKey(adminCaller, `${name}-${clientId}`);
    expect(await decide(clientId, repeatedOptions)).toEqual(firstResponse);
    expect(repeatedOptions.replayed).toBe(true);
    expect(await harness.readAuditEvents(firstResponse.id)).toHaveLength(1);
  });

  test(`decideOnboarding (${name}) rejects an onboarding at the step DETAILS_PENDING, and emits no audit event`, async () => {
    const caller = aBusinessCaller();
    const { id: clientId } = await harness.createPerson(caller);
    expect(await refusal(decide(clientId))).toMatchObject({
      code: "invalid_status_transition",
      members: { current_step: "DETAILS_PENDING" },
    });
    const { id } = await harness.onboarding.getOnboarding({ clientId }, { caller });
    expect(await harness.readAuditEvents(id)).toEqual([]);
  });

  test(`decideOnboarding (${name}) rejects a business's key with admin_required`, async () => {
    const { clientId, caller, readOnboarding } = await aVerifiedClient();
    for (const id of [clientId, uuidv7()]) {
      expect(await refusal(decide(id, { caller }))).toMatchObject({ kind: "forbidden", code: "admin_required" });
    }
    expect(await readOnboarding()).toMatchObject({ currentStep: OnboardingStep.PENDING_APPROVAL });
  });

  test(`decideOnboarding (${name}) throws the same error not_found for an unknown client id and a malformed client id`, async () => {
    const unknownIdError = await refusal(decide(uuidv7()));
    expect(unknownIdError).toMatchObject({ kind: "not_found", code: "not_found" });
    expect(await refusal(decide("no id"))).toEqual(unknownIdError);
  });
});

test.each([approve, decline])(
  "decideOnboarding emits an audit event with the reason and without personal data of the client",
  async (decide) => {
    const { clientId, readOnboarding } = await aVerifiedClient();
    await decide(clientId, { caller: adminCaller }, "Sanctions list");
    const records = await harness.readAuditEvents((await readOnboarding()).id);
    expect(records).toMatchObject([{ reason: "Sanctions list" }]);
    const text = JSON.stringify(records, (_, value) => (typeof value === "bigint" ? String(value) : value));
    for (const personalText of ["Amina", "Benali", "example.dz", "1990-05-17"]) expect(text).not.toContain(personalText);
  },
);

test("decideOnboarding accepts only one of two concurrent decisions", async () => {
  const { clientId, readOnboarding } = await aVerifiedClient();
  const results = await Promise.allSettled([approve(clientId), decline(clientId)]);
  expect(results.map((result) => result.status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(await harness.readAuditEvents((await readOnboarding()).id)).toHaveLength(1);
});
