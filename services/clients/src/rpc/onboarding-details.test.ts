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
  const details = await createDetails(client, answers);
  harness.clock.nowMs = (harness.clock.nowMs ?? 0) + 1_000;
  return { ...client, details };
};
interface ClientOfCaller {
  caller: Caller;
  clientId: string;
}
const createDetails = ({ caller, clientId }: ClientOfCaller, answers: Answers = {}) =>
  harness.onboarding.createOnboardingDetails({ clientId, ...aDetailsRequest(answers) }, { caller });
const updateDetails = ({ caller, clientId }: ClientOfCaller, answers: Answers) =>
  harness.onboarding.updateOnboardingDetails({ clientId, answers }, { caller });
const readDetails = ({ caller, clientId }: ClientOfCaller) => harness.onboarding.getOnboardingDetails({ clientId }, { caller });
const incompleteError = (...missing: string[]) => ({
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
  test("createOnboardingDetails stores the details and changes the onboarding's step to KYC_PENDING", async () => {
    const client = await aClient();
    const details = await createDetails(client);
    expect(details).toMatchObject({ clientId: client.clientId, ...aDetailsRequest().answers, kycApplicationOpen: false });
    expect(details.createdAtMs).toBe(BigInt(harness.clock.nowMs ?? 0));
    expect(details.updatedAtMs).toBe(details.createdAtMs);
    expect(await readDetails(client)).toEqual(details);
    const [row] = await harness.sql("select step, updated_at > created_at as is_updated from onboarding where client_id = ?", [
      client.clientId,
    ]);
    expect(row).toEqual({ step: "KYC_PENDING", is_updated: true });
  });

  test("createOnboardingDetails stores all optional fields", async () => {
    const client = await aClient();
    expect(await createDetails(client, otherAnswers)).toMatchObject(otherAnswers);
    expect(await readDetails(client)).toMatchObject(otherAnswers);
  });

  test("createOnboardingDetails rejects a second request for a client, and keeps the details of the first request", async () => {
    const client = await aClientWithDetails();
    expect(await refusal(createDetails(client, otherAnswers))).toMatchObject({
      kind: "conflict",
      code: "onboarding_details_exist",
    });
    expect(await readDetails(client)).toEqual(client.details);
  });

  test("createOnboardingDetails accepts only one of ten concurrent requests for the same client", async () => {
    const client = await aClient();
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => createDetails(client)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const result of results)
      if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "onboarding_details_exist" });
  });

  test("createOnboardingDetails returns the stored response for a repeated Idempotency-Key", async () => {
    const { caller, clientId } = await aClient();
    const request = { clientId, ...aDetailsRequest() };
    const firstResponse = await harness.onboarding.createOnboardingDetails(request, withIdempotencyKey(caller, "k"));
    const repeatedOptions = withIdempotencyKey(caller, "k");
    expect(await harness.onboarding.createOnboardingDetails(request, repeatedOptions)).toEqual(firstResponse);
    expect(repeatedOptions.replayed).toBe(true);
  });

  test.each([
    [{ occupation: "OTHER" }, ["other_occupation"]],
    [{ sourceOfFunds: "OTHER" }, ["other_source_of_funds"]],
    [{ occupation: "OTHER", sourceOfFunds: "OTHER" }, ["other_occupation", "other_source_of_funds"]],
    [{ accountPurposes: [] }, ["account_purposes"]],
  ] as [Answers, string[]][])(
    "createOnboardingDetails rejects the details %j and reports the missing fields %j",
    async (answers, missing) => {
      const client = await aClient();
      expect(await refusal(createDetails(client, answers))).toMatchObject(incompleteError(...missing));
      expect(await refusal(readDetails(client))).toMatchObject({ code: "onboarding_details_not_found" });
    },
  );

  test("createOnboardingDetails changes the step to PENDING_APPROVAL if the verification is already approved", async () => {
    const client = await aClient();
    await client.publish({ status: "COMPLETED", verdict: "APPROVED" });
    await createDetails(client);
    const [row] = await harness.sql("select step from onboarding where client_id = ?", [client.clientId]);
    expect(row).toEqual({ step: "PENDING_APPROVAL" });
  });
});

describe("updateOnboardingDetails", () => {
  test.each(Object.entries(otherAnswers))("updateOnboardingDetails changes only %s and updated_at", async (name, value) => {
    const client = await aClientWithDetails();
    const changedDetails = await updateDetails(client, { [name]: value });
    expect(changedDetails).toEqual({ ...client.details, [name]: value, updatedAtMs: client.details.updatedAtMs + 1_000n });
    expect(await readDetails(client)).toEqual(changedDetails);
  });

  test("updateOnboardingDetails keeps updated_at if all values in the request are equal to the stored values", async () => {
    const client = await aClientWithDetails();
    expect(await updateDetails(client, {})).toEqual(client.details);
    expect(await updateDetails(client, { ...aDetailsRequest().answers, cleared: ["other_occupation"] })).toEqual(client.details);
  });

  test("updateOnboardingDetails clears the optional fields that `cleared` names, and ignores required fields in `cleared`", async () => {
    const client = await aClientWithDetails(otherAnswers);
    const clearableFields = {
      funds_origin_country_id: "fundsOriginCountryId",
      other_occupation: "otherOccupation",
      other_source_of_funds: "otherSourceOfFunds",
      tax_identification_number: "taxIdentificationNumber",
    };
    for (const [name, property] of Object.entries(clearableFields)) {
      expect(await updateDetails(client, { cleared: [name] })).not.toHaveProperty(property);
    }
    expect(await updateDetails(client, { cleared: ["occupation", "account_purposes", "toString"] })).toMatchObject({
      occupation: otherAnswers.occupation,
      accountPurposes: otherAnswers.accountPurposes,
    });
  });

  test.each([
    [{}, { occupation: "OTHER" }, "other_occupation"],
    [{ occupation: "OTHER", otherOccupation: "Luthier" }, { cleared: ["other_occupation"] }, "other_occupation"],
    [{ sourceOfFunds: "OTHER", otherSourceOfFunds: "Mécénat" }, { cleared: ["other_source_of_funds"] }, "other_source_of_funds"],
  ] as [Answers, Answers, string][])(
    "updateOnboardingDetails, for a client with the details %j, rejects the change %j because %s is required",
    async (storedAnswers, answers, missing) => {
      const client = await aClientWithDetails(storedAnswers);
      expect(await refusal(updateDetails(client, answers))).toMatchObject(incompleteError(missing));
      expect(await readDetails(client)).toEqual(client.details);
    },
  );

  test("updateOnboardingDetails accepts a request that changes the occupation OTHER to FARMER and clears other_occupation", async () => {
    const client = await aClientWithDetails({ occupation: "OTHER", otherOccupation: "Luthier" });
    const changedDetails = await updateDetails(client, { occupation: "FARMER", cleared: ["other_occupation"] });
    expect(changedDetails).toMatchObject({ occupation: "FARMER" });
    expect(changedDetails).not.toHaveProperty("otherOccupation");
  });

  test("updateOnboardingDetails applies all concurrent changes if they concern different fields", async () => {
    const client = await aClientWithDetails();
    await Promise.all(Object.entries(otherAnswers).map(([name, value]) => updateDetails(client, { [name]: value })));
    expect(await readDetails(client)).toMatchObject(otherAnswers);
  });

  test("updateOnboardingDetails creates the details of a client without details if the request contains all required fields", async () => {
    const client = await aClient();
    expect(await updateDetails(client, aDetailsRequest().answers)).toMatchObject(aDetailsRequest().answers);
    expect(await harness.onboarding.getOnboarding({ clientId: client.clientId }, client)).toMatchObject({
      currentStep: OnboardingStep.KYC_PENDING,
    });
  });

  test("updateOnboardingDetails rejects an incomplete request for a client without details, and reports all missing fields", async () => {
    const client = await aClient();
    const allFields = [
      "account_purposes",
      "expected_monthly_incoming_volume",
      "expected_monthly_outgoing_volume",
      "is_us_person",
      "occupation",
      "occupation_sector",
      "source_of_funds",
    ];
    expect(await refusal(updateDetails(client, {}))).toMatchObject(incompleteError(...allFields));
    const { occupation: _, ...incompleteAnswers } = aDetailsRequest().answers;
    expect(await refusal(updateDetails(client, incompleteAnswers))).toMatchObject(incompleteError("occupation"));
    expect(await refusal(readDetails(client))).toMatchObject({ code: "onboarding_details_not_found" });
  });

  test("updateOnboardingDetails creates the details once for ten concurrent requests if the client has no details", async () => {
    const client = await aClient();
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        updateDetails(client, { ...aDetailsRequest().answers, taxIdentificationNumber: `N${n}` }),
      ),
    );
    expect(new Set(results.map(({ id }) => id)).size).toBe(1);
  });
});

describe("updateOnboardingDetails after KYC events", () => {
  const lockingEvents: [Partial<KycEventFields>, string][] = [
    [{ status: "OPENED" }, "KYC_PROCESSING"],
    [{ status: "PROCESSING" }, "KYC_PROCESSING"],
    [{ status: "FAILED", attemptsRemaining: 1 }, "KYC_PROCESSING"],
    [{ status: "COMPLETED", verdict: "NEEDS_REVIEW" }, "KYC_UNDER_REVIEW"],
    [{ status: "COMPLETED", verdict: "REJECTED" }, "KYC_DECLINED"],
    [{ status: "COMPLETED", verdict: "APPROVED" }, "PENDING_APPROVAL"],
  ];
  test.each(lockingEvents)(
    "updateOnboardingDetails rejects a change after the KYC event %j, at the step %s",
    async (fields, step) => {
      const client = await aClientWithDetails();
      await client.publish(fields);
      for (const answers of [{ isUsPerson: true }, {}]) {
        expect(await refusal(updateDetails(client, answers))).toMatchObject({
          kind: "conflict",
          code: "onboarding_locked",
          members: { current_step: step },
        });
      }
      expect((await readDetails(client)).isUsPerson).toBe(false);
    },
  );

  test("updateOnboardingDetails rejects a change at the step APPROVED, even if the client has a newer application", async () => {
    const client = await aClientWithDetails();
    await client.publish({ status: "COMPLETED", verdict: "APPROVED" });
    await harness.onboarding.decideOnboarding(
      { clientId: client.clientId, decision: OnboardingDecision.APPROVED },
      { caller: adminCaller },
    );
    await client.publish({ createdAtMs: Date.parse("2027-01-01T00:00:00Z") });
    expect(await refusal(updateDetails(client, {}))).toMatchObject({
      code: "onboarding_locked",
      members: { current_step: "APPROVED" },
    });
  });

  test.each<Partial<KycEventFields>>([
    { status: "CREATED" },
    { status: "EXPIRED" },
    { status: "CANCELED" },
    { status: "FAILED", attemptsRemaining: 0 },
  ])("updateOnboardingDetails accepts a change after the KYC event %j", async (fields) => {
    const client = await aClientWithDetails();
    await client.publish(fields);
    expect(await updateDetails(client, { isUsPerson: true })).toMatchObject({ isUsPerson: true });
  });
});

test("getOnboardingDetails returns the newest application's id, and whether that application is open", async () => {
  const client = await aClientWithDetails();
  const applicationId = uuidv7();
  await client.publish({ applicationId, revision: 2, status: "OPENED" });
  expect(await readDetails(client)).toMatchObject({ kycApplicationId: applicationId, kycApplicationOpen: true });
  await client.publish({ applicationId, revision: 3, status: "EXPIRED" });
  expect(await readDetails(client)).toMatchObject({ kycApplicationId: applicationId, kycApplicationOpen: false });
});

test("the onboarding RPCs of businesses throw the same error not_found for another business's client, an unknown id and a malformed id", async () => {
  const { clientId } = await aClientWithDetails();
  const otherCaller = aBusinessCaller();
  const calls = [
    (id: string) => createDetails({ caller: otherCaller, clientId: id }),
    (id: string) => updateDetails({ caller: otherCaller, clientId: id }, otherAnswers),
    (id: string) => readDetails({ caller: otherCaller, clientId: id }),
    (id: string) => harness.onboarding.getOnboarding({ clientId: id }, { caller: otherCaller }),
  ];
  for (const call of calls) {
    const unknownIdError = await refusal(call(uuidv7()));
    expect(unknownIdError).toMatchObject({ kind: "not_found", code: "not_found" });
    for (const id of [clientId, "no id"]) expect(await refusal(call(id))).toEqual(unknownIdError);
  }
  for (const call of [
    harness.onboarding.getOnboarding({ clientId }, { caller: adminCaller }),
    harness.onboarding.getOnboardingDetails({ clientId }, { caller: adminCaller }),
  ])
    expect(await refusal(call)).toMatchObject({ code: "business_key_required" });
});
