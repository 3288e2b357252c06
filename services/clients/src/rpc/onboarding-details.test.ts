import { OnboardingStep } from "@amana/contracts/clients/v1/onboarding_pb";
import { OnboardingDecision } from "@amana/contracts/clients/v1/onboarding_service_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { aKycEvent, type KycEventFields } from "../../test/a-kyc-event.ts";
import { type Answers, aDetailsRequest, type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());
beforeEach(() => {
  harness.clock.nowMs = Date.parse("2026-11-20T10:00:00.000Z");
});

type Caller = ReturnType<typeof aBusinessCaller>;
const aClient = async () => {
  const caller = aBusinessCaller();
  const { id: clientId } = await harness.createPerson(caller);
  harness.clock.nowMs = (harness.clock.nowMs ?? 0) + 1_000;
  const publish = (fields: Partial<KycEventFields>) => harness.publish(aKycEvent({ ...caller, clientId, ...fields }));
  return { caller, clientId, publish };
};
const aClientWithDetails = async (answers: Answers = {}) => {
  const client = await aClient();
  const details = await create(client, answers);
  harness.clock.nowMs = (harness.clock.nowMs ?? 0) + 1_000;
  return { ...client, details };
};
interface ClientOfCaller {
  caller: Caller;
  clientId: string;
}
const create = ({ caller, clientId }: ClientOfCaller, answers: Answers = {}) =>
  harness.onboarding.createOnboardingDetails({ clientId, ...aDetailsRequest(answers) }, { caller });
const update = ({ caller, clientId }: ClientOfCaller, answers: Answers) =>
  harness.onboarding.updateOnboardingDetails({ clientId, answers }, { caller });
const read = ({ caller, clientId }: ClientOfCaller) => harness.onboarding.getOnboardingDetails({ clientId }, { caller });
const incomplete = (...missing: string[]) => ({
  kind: "invalid",
  code: "onboarding_details_incomplete",
  members: { missing: missing.join(",") },
});

const otherAnswers: Answers = {
  accountPurposes: ["PENSION"],
  expectedMonthlyIncomingVolume: "MORE_THAN60001",
  expectedMonthlyOutgoingVolume: "MORE_THAN60001",
  isUsPerson: true,
  occupation: "FARMER",
  occupationSector: "AGRICULTURE_FORESTRY_AND_FISHING",
  sourceOfFunds: "INHERITANCE",
  fundsOriginCountryId: 250,
  otherOccupation: "Luthier",
  otherSourceOfFunds: "Mécénat",
  taxIdentificationNumber: "099916000000000",
};

describe("createOnboardingDetails", () => {
  test("stores the details and changes the onboarding to KYC_PENDING", async () => {
    const client = await aClient();
    const details = await create(client);
    expect(details).toMatchObject({ clientId: client.clientId, ...aDetailsRequest().answers, kycApplicationOpen: false });
    expect(details.createdAtMs).toBe(BigInt(harness.clock.nowMs ?? 0));
    expect(details.updatedAtMs).toBe(details.createdAtMs);
    expect(await read(client)).toEqual(details);
    const [row] = await harness.sql("select step, updated_at > created_at as moved from onboarding where client_id = ?", [
      client.clientId,
    ]);
    expect(row).toEqual({ step: "KYC_PENDING", moved: true });
  });

  test("stores every optional field", async () => {
    const client = await aClient();
    expect(await create(client, otherAnswers)).toMatchObject(otherAnswers);
    expect(await read(client)).toMatchObject(otherAnswers);
  });

  test("rejects a second request and keeps the first details", async () => {
    const client = await aClientWithDetails();
    expect(await refusal(create(client, otherAnswers))).toMatchObject({ kind: "conflict", code: "onboarding_details_exist" });
    expect(await read(client)).toEqual(client.details);
  });

  test("accepts one of ten concurrent requests", async () => {
    const client = await aClient();
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => create(client)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const result of results)
      if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "onboarding_details_exist" });
  });

  test("returns the same response for the same Idempotency-Key", async () => {
    const { caller, clientId } = await aClient();
    const request = { clientId, ...aDetailsRequest() };
    const first = await harness.onboarding.createOnboardingDetails(request, withIdempotencyKey(caller, "k"));
    const again = withIdempotencyKey(caller, "k");
    expect(await harness.onboarding.createOnboardingDetails(request, again)).toEqual(first);
    expect(again.replayed).toBe(true);
  });

  test.each([
    [{ occupation: "OTHER" }, ["other_occupation"]],
    [{ sourceOfFunds: "OTHER" }, ["other_source_of_funds"]],
    [{ occupation: "OTHER", sourceOfFunds: "OTHER" }, ["other_occupation", "other_source_of_funds"]],
    [{ accountPurposes: [] }, ["account_purposes"]],
  ] as [Answers, string[]][])("returns, for %j, the missing fields %j", async (answers, missing) => {
    const client = await aClient();
    expect(await refusal(create(client, answers))).toMatchObject(incomplete(...missing));
    expect(await refusal(read(client))).toMatchObject({ code: "onboarding_details_not_found" });
  });

  test("accepts the first details after the verification has ended, and updates the step", async () => {
    const client = await aClient();
    await client.publish({ status: "COMPLETED", verdict: "APPROVED" });
    await create(client);
    const [row] = await harness.sql("select step from onboarding where client_id = ?", [client.clientId]);
    expect(row).toEqual({ step: "PENDING_APPROVAL" });
  });
});

describe("updateOnboardingDetails", () => {
  test.each(Object.entries(otherAnswers))("changes only %s and updated_at", async (name, value) => {
    const client = await aClientWithDetails();
    const changed = await update(client, { [name]: value });
    expect(changed).toEqual({ ...client.details, [name]: value, updatedAtMs: client.details.updatedAtMs + 1_000n });
    expect(await read(client)).toEqual(changed);
  });

  test("keeps updated_at for equal values", async () => {
    const client = await aClientWithDetails();
    expect(await update(client, {})).toEqual(client.details);
    expect(await update(client, { ...aDetailsRequest().answers, cleared: ["other_occupation"] })).toEqual(client.details);
  });

  test("clears each named optional field, and ignores the name of a required field", async () => {
    const client = await aClientWithDetails(otherAnswers);
    const cleared = {
      funds_origin_country_id: "fundsOriginCountryId",
      other_occupation: "otherOccupation",
      other_source_of_funds: "otherSourceOfFunds",
      tax_identification_number: "taxIdentificationNumber",
    };
    for (const [name, property] of Object.entries(cleared)) {
      expect(await update(client, { cleared: [name] })).not.toHaveProperty(property);
    }
    expect(await update(client, { cleared: ["occupation", "account_purposes", "toString"] })).toMatchObject({
      occupation: otherAnswers.occupation,
      accountPurposes: otherAnswers.accountPurposes,
    });
  });

  test.each([
    [{}, { occupation: "OTHER" }, "other_occupation"],
    [{ occupation: "OTHER", otherOccupation: "Luthier" }, { cleared: ["other_occupation"] }, "other_occupation"],
    [{ sourceOfFunds: "OTHER", otherSourceOfFunds: "Mécénat" }, { cleared: ["other_source_of_funds"] }, "other_source_of_funds"],
  ] as [Answers, Answers, string][])(
    "rejects, for %j, the change %j, because %s is required",
    async (before, answers, missing) => {
      const client = await aClientWithDetails(before);
      expect(await refusal(update(client, answers))).toMatchObject(incomplete(missing));
      expect(await read(client)).toEqual(client.details);
    },
  );

  test("accepts a change from OTHER that also clears the field that OTHER requires", async () => {
    const client = await aClientWithDetails({ occupation: "OTHER", otherOccupation: "Luthier" });
    const changed = await update(client, { occupation: "FARMER", cleared: ["other_occupation"] });
    expect(changed).toMatchObject({ occupation: "FARMER" });
    expect(changed).not.toHaveProperty("otherOccupation");
  });

  test("applies concurrent changes of different fields", async () => {
    const client = await aClientWithDetails();
    await Promise.all(Object.entries(otherAnswers).map(([name, value]) => update(client, { [name]: value })));
    expect(await read(client)).toMatchObject(otherAnswers);
  });

  test("creates the details if all required fields are present", async () => {
    const client = await aClient();
    expect(await update(client, aDetailsRequest().answers)).toMatchObject(aDetailsRequest().answers);
    expect(await harness.onboarding.getOnboarding({ clientId: client.clientId }, client)).toMatchObject({
      currentStep: OnboardingStep.KYC_PENDING,
    });
  });

  test("returns all missing fields if there are no details yet", async () => {
    const client = await aClient();
    const all = [
      "account_purposes",
      "expected_monthly_incoming_volume",
      "expected_monthly_outgoing_volume",
      "is_us_person",
      "occupation",
      "occupation_sector",
      "source_of_funds",
    ];
    expect(await refusal(update(client, {}))).toMatchObject(incomplete(...all));
    const { occupation: _, ...rest } = aDetailsRequest().answers;
    expect(await refusal(update(client, rest))).toMatchObject(incomplete("occupation"));
    expect(await refusal(read(client))).toMatchObject({ code: "onboarding_details_not_found" });
  });

  test("stores one set of details for ten concurrent first changes", async () => {
    const client = await aClient();
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, n) => update(client, { ...aDetailsRequest().answers, taxIdentificationNumber: `N${n}` })),
    );
    expect(new Set(results.map(({ id }) => id)).size).toBe(1);
  });
});

describe("updateOnboardingDetails, locked details", () => {
  const locked: [Partial<KycEventFields>, string][] = [
    [{ status: "OPENED" }, "KYC_PROCESSING"],
    [{ status: "PROCESSING" }, "KYC_PROCESSING"],
    [{ status: "FAILED", attemptsRemaining: 1 }, "KYC_PROCESSING"],
    [{ status: "COMPLETED", verdict: "NEEDS_REVIEW" }, "KYC_UNDER_REVIEW"],
    [{ status: "COMPLETED", verdict: "REJECTED" }, "KYC_DECLINED"],
    [{ status: "COMPLETED", verdict: "APPROVED" }, "PENDING_APPROVAL"],
  ];
  test.each(locked)("rejects a change after %j, at %s", async (fields, step) => {
    const client = await aClientWithDetails();
    await client.publish(fields);
    for (const answers of [{ isUsPerson: true }, {}]) {
      expect(await refusal(update(client, answers))).toMatchObject({
        kind: "conflict",
        code: "onboarding_locked",
        members: { current_step: step },
      });
    }
    expect((await read(client)).isUsPerson).toBe(false);
  });

  test("rejects a change at APPROVED, also with a new application", async () => {
    const client = await aClientWithDetails();
    await client.publish({ status: "COMPLETED", verdict: "APPROVED" });
    await harness.onboarding.decideOnboarding(
      { clientId: client.clientId, decision: OnboardingDecision.APPROVED },
      { caller: adminCaller },
    );
    await client.publish({ createdAtMs: Date.parse("2027-01-01T00:00:00Z") });
    expect(await refusal(update(client, {}))).toMatchObject({ code: "onboarding_locked", members: { current_step: "APPROVED" } });
  });

  test.each<Partial<KycEventFields>>([
    { status: "CREATED" },
    { status: "EXPIRED" },
    { status: "CANCELED" },
    { status: "FAILED", attemptsRemaining: 0 },
  ])("accepts a change after %j", async (fields) => {
    const client = await aClientWithDetails();
    await client.publish(fields);
    expect(await update(client, { isUsPerson: true })).toMatchObject({ isUsPerson: true });
  });
});

test("getOnboardingDetails returns the id of the newest application, and whether it is open", async () => {
  const client = await aClientWithDetails();
  const applicationId = uuidv7();
  await client.publish({ applicationId, revision: 2, status: "OPENED" });
  expect(await read(client)).toMatchObject({ kycApplicationId: applicationId, kycApplicationOpen: true });
  await client.publish({ applicationId, revision: 3, status: "EXPIRED" });
  expect(await read(client)).toMatchObject({ kycApplicationId: applicationId, kycApplicationOpen: false });
});

test("all onboarding RPCs return the same error for another business's client, an unknown id and a malformed id", async () => {
  const { clientId } = await aClientWithDetails();
  const other = aBusinessCaller();
  const calls = [
    (id: string) => create({ caller: other, clientId: id }),
    (id: string) => update({ caller: other, clientId: id }, otherAnswers),
    (id: string) => read({ caller: other, clientId: id }),
    (id: string) => harness.onboarding.getOnboarding({ clientId: id }, { caller: other }),
  ];
  for (const call of calls) {
    const unknown = await refusal(call(uuidv7()));
    expect(unknown).toMatchObject({ kind: "not_found", code: "not_found" });
    for (const id of [clientId, "nonsense"]) expect(await refusal(call(id))).toEqual(unknown);
  }
  for (const call of [
    harness.onboarding.getOnboarding({ clientId }, { caller: adminCaller }),
    harness.onboarding.getOnboardingDetails({ clientId }, { caller: adminCaller }),
  ])
    expect(await refusal(call)).toMatchObject({ code: "business_key_required" });
});
