import { RiskLevel } from "@amana/contracts/clients/v1/client_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, refusal } from "@amana/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { aKycEvent } from "../../test/a-kyc-event.ts";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());
beforeEach(() => {
  harness.clock.nowMs = Date.parse("2026-11-20T10:00:00.000Z");
});

const aClient = async () => {
  const caller = aBusinessCaller();
  const createdClient = await harness.createPerson(caller, { kycNote: "avant", stateProvince: "Alger" });
  harness.clock.nowMs = (harness.clock.nowMs ?? 0) + 1_000;
  return { caller, createdClient, id: createdClient.id };
};

const allChanges = {
  address: "1 rue Neuve",
  city: "Oran",
  postcode: "31000",
  stateProvince: "Oran",
  countryCode: "FRA",
  email: "neuve@example.dz",
  secondEmail: "second@example.dz",
  mobilePhoneNumber: "+213550123456",
  secondMobilePhoneNumber: "+213660123456",
  plannedExpenditure: "10",
  plannedIncome: "20",
  kycNote: "après",
  blacklistedComment: "non",
  externalClientCode: "C-2",
  blocked: true,
  isBlacklisted: true,
  riskLevel: RiskLevel.MEDIUM,
};

test.each(Object.entries(allChanges))("updatePerson changes only %s and updated_at", async (name, value) => {
  const { caller, createdClient, id } = await aClient();
  const changedClient = await harness.clients.updatePerson({ id, [name]: value }, { caller });
  expect(changedClient).toEqual({ ...createdClient, [name]: value, updatedAtMs: createdClient.updatedAtMs + 1_000n });
  expect(await harness.clients.getClient({ id }, { caller })).toEqual(changedClient);
});

test("updatePerson keeps updated_at if all values in the request are equal to the stored values", async () => {
  const { caller, createdClient, id } = await aClient();
  expect(await harness.clients.updatePerson({ id }, { caller })).toEqual(createdClient);
  const equalValues = { kycNote: "avant", blocked: false, riskLevel: RiskLevel.LOW, cleared: ["second_email"] };
  expect(await harness.clients.updatePerson({ id, ...equalValues }, { caller })).toEqual(createdClient);
  expect(await harness.clients.getClient({ id }, { caller })).toEqual(createdClient);
});

test("updatePerson clears the optional fields that `cleared` names, and ignores required fields in `cleared`", async () => {
  const { caller, id } = await aClient();
  const changedClient = await harness.clients.updatePerson({ id, ...allChanges }, { caller });
  const clearableFields = {
    state_province: "stateProvince",
    second_email: "secondEmail",
    mobile_phone_number: "mobilePhoneNumber",
    second_mobile_phone_number: "secondMobilePhoneNumber",
    planned_income: "plannedIncome",
    planned_expenditure: "plannedExpenditure",
    external_client_code: "externalClientCode",
    kyc_note: "kycNote",
    blacklisted_comment: "blacklistedComment",
  };
  for (const [name, property] of Object.entries(clearableFields)) {
    expect(await harness.clients.updatePerson({ id, cleared: [name] }, { caller })).not.toHaveProperty(property);
  }
  const clearedClient = await harness.clients.updatePerson(
    { id, cleared: ["email", "first_name", "blocked", "toString"] },
    { caller },
  );
  expect(clearedClient).toEqual({
    ...changedClient,
    ...Object.fromEntries(Object.values(clearableFields).map((property) => [property, undefined])),
  });
});

test("updatePerson applies all concurrent changes if they concern different fields", async () => {
  const { caller, id } = await aClient();
  const changes = Object.entries(allChanges).filter(([name]) => name !== "email");
  await Promise.all(changes.map(([name, value]) => harness.clients.updatePerson({ id, [name]: value }, { caller })));
  const { email: _, ...expected } = allChanges;
  expect(await harness.clients.getClient({ id }, { caller })).toMatchObject(expected);
});

test("updatePerson rejects the e-mail address of another client of the business, and ignores letter case", async () => {
  const { caller, createdClient, id } = await aClient();
  const otherClient = await harness.createPerson(caller, { email: "Taken@example.dz" });
  const request = harness.clients.updatePerson({ id, email: "taken@EXAMPLE.dz", city: "Oran" }, { caller });
  expect(await refusal(request)).toMatchObject({ kind: "conflict", code: "email_taken", pointer: "/email" });
  expect(await harness.clients.getClient({ id }, { caller })).toEqual(createdClient);
  // The client that has the e-mail address may change letters of this address to upper case.
  expect(await harness.clients.updatePerson({ id: otherClient.id, email: "TAKEN@example.dz" }, { caller })).toMatchObject({
    email: "TAKEN@example.dz",
  });
});

test("updatePerson accepts only one of two concurrent requests that give two clients the same e-mail address", async () => {
  const { caller, id } = await aClient();
  const otherClient = await harness.createPerson(caller);
  const results = await Promise.allSettled(
    [id, otherClient.id].map((clientId) => harness.clients.updatePerson({ id: clientId, email: "race@example.dz" }, { caller })),
  );
  expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  const [rejection] = results.filter((result) => result.status === "rejected");
  expect(rejection?.reason).toMatchObject({ code: "email_taken" });
});

test("updatePerson stores its change and the KYC consumer stores the status when both run at the same time", async () => {
  const { caller, id } = await aClient();
  await Promise.all([
    harness.publish(aKycEvent({ ...caller, clientId: id })),
    harness.clients.updatePerson({ id, city: "Oran" }, { caller }),
  ]);
  const [row] = await harness.sql("select kyc_status, city from client where id = ?", [id]);
  expect(row).toEqual({ kyc_status: "CREATED", city: "Oran" });
});

test("updatePerson throws the same error not_found for another business's client, an unknown id and a malformed id", async () => {
  const { caller, createdClient, id } = await aClient();
  const sendChange = (requestedId: string) =>
    refusal(harness.clients.updatePerson({ id: requestedId, city: "Oran" }, { caller: aBusinessCaller() }));
  const unknownIdError = await sendChange(uuidv7());
  expect(unknownIdError).toMatchObject({ kind: "not_found", code: "not_found" });
  for (const requestedId of [id, "no id"]) expect(await sendChange(requestedId)).toEqual(unknownIdError);
  expect(await harness.clients.getClient({ id }, { caller })).toEqual(createdClient);
});
