import { ClientKycStatus, KycLevel, RiskLevel } from "@amana/contracts/clients/v1/client_pb";
import { OnboardingStep, OverallStatus } from "@amana/contracts/clients/v1/onboarding_pb";
import { aBusinessCaller, adminCaller, withIdempotencyKey } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aPerson, type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

test("createPerson sets kyc_level FULL_KYC, risk_level LOW, blocked false and is_blacklisted false by default", async () => {
  const caller = aBusinessCaller();
  const person = aPerson();
  const { $typeName: _, ...client } = await harness.clients.createPerson(person, { caller });
  expect(client).toEqual({
    ...person,
    id: expect.any(String),
    businessId: caller.businessId,
    kycLevel: KycLevel.FULL_KYC,
    kycStatus: ClientKycStatus.NOT_STARTED,
    riskLevel: RiskLevel.LOW,
    blocked: false,
    isBlacklisted: false,
    createdAtMs: expect.any(BigInt),
    updatedAtMs: client.createdAtMs,
  });
});

test("createPerson stores the optional fields unchanged", async () => {
  const caller = aBusinessCaller();
  const fields = {
    middleName: "Lila",
    kycLevel: KycLevel.NOT_REQUIRED,
    riskLevel: RiskLevel.HIGH,
    blocked: true,
    isBlacklisted: true,
    blacklistedComment: "Fraude en 2024",
    externalClientCode: "C-1",
    kycNote: "vu à l'agence",
    mobilePhoneNumber: "+213550123456",
    plannedExpenditure: "1000 à 2000",
    plannedIncome: "3000",
    secondEmail: "second@example.dz",
    secondMobilePhoneNumber: "+213660123456",
    stateProvince: "Alger",
  };
  const { id } = await harness.createPerson(caller, fields);
  expect(await harness.clients.getClient({ id }, { caller })).toMatchObject(fields);
});

test("createPerson creates the client's onboarding at the step DETAILS_PENDING", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.createPerson(caller);
  expect(await harness.onboarding.getOnboarding({ clientId: id }, { caller })).toMatchObject({
    clientId: id,
    currentStep: OnboardingStep.DETAILS_PENDING,
    kycStatus: ClientKycStatus.NOT_STARTED,
    overallStatus: OverallStatus.IN_PROGRESS,
    kycApplicationOpen: false,
  });
});

test.each([
  ["2026-11-21", "2008-11-21", true],
  ["2026-11-21", "2008-11-22", false],
  ["2026-02-28", "2008-02-29", false],
  ["2026-03-01", "2008-02-29", true],
  ["2028-02-29", "2010-02-28", true],
  ["2028-02-29", "2010-03-01", false],
])(
  "createPerson accepts a person only from the age of 18: UTC day %s, birth date %s, accepted %s",
  async (today, dateOfBirth, isAllowed) => {
    for (const time of ["00:00:00.000", "23:59:59.999"]) {
      harness.clock.nowMs = Date.parse(`${today}T${time}Z`);
      const creation = harness.createPerson(aBusinessCaller(), { dateOfBirth });
      if (isAllowed) await creation;
      else await expect(creation).rejects.toMatchObject({ kind: "invalid", code: "client_underage", pointer: "/date_of_birth" });
    }
    harness.clock.nowMs = undefined;
  },
);

test("createPerson rejects the e-mail address of another client of the business, and ignores letter case", async () => {
  const caller = aBusinessCaller();
  await harness.createPerson(caller, { email: "Amina.É@Example.dz" });
  await expect(harness.createPerson(caller, { email: "amina.é@example.DZ" })).rejects.toMatchObject({
    kind: "conflict",
    code: "email_taken",
    pointer: "/email",
  });
  expect((await harness.clients.listClients({ limit: 10 }, { caller })).total).toBe(1);
  await harness.createPerson(aBusinessCaller(), { email: "amina.é@example.DZ" });
});

test("createPerson accepts only one of ten concurrent requests with the same e-mail address", async () => {
  const caller = aBusinessCaller();
  const results = await Promise.allSettled(
    Array.from({ length: 10 }, () => harness.createPerson(caller, { email: "one@example.dz" })),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const result of results) if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "email_taken" });
});

test("createPerson returns the existing client for a repeated Idempotency-Key, and rejects a different body with this key", async () => {
  const caller = aBusinessCaller();
  const person = aPerson();
  const createdClient = await harness.clients.createPerson(person, withIdempotencyKey(caller, "k1"));
  const repeatedOptions = withIdempotencyKey(caller, "k1");
  expect(await harness.clients.createPerson(person, repeatedOptions)).toEqual(createdClient);
  expect(repeatedOptions.replayed).toBe(true);
  expect((await harness.clients.listClients({ limit: 10 }, { caller })).total).toBe(1);
  await expect(harness.clients.createPerson(aPerson(), withIdempotencyKey(caller, "k1", "f2"))).rejects.toMatchObject({
    code: "idempotency_key_reused",
  });
});

test("createPerson accepts an Idempotency-Key again if the first request with this key was refused", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.createPerson(caller, { email: "taken@example.dz" });
  const person = aPerson({ email: "taken@example.dz" });
  await expect(harness.clients.createPerson(person, withIdempotencyKey(caller, "k1"))).rejects.toMatchObject({
    code: "email_taken",
  });
  await harness.clients.updatePerson({ id, email: "other@example.dz" }, { caller });
  expect(await harness.clients.createPerson(person, withIdempotencyKey(caller, "k1"))).toMatchObject({
    email: "taken@example.dz",
  });
});

test("createPerson rejects an operator's key", async () => {
  await expect(harness.createPerson(adminCaller)).rejects.toMatchObject({ code: "business_key_required" });
});
