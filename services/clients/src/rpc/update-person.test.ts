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
  const created = await harness.createPerson(caller, { kycNote: "avant", stateProvince: "Alger" });
  harness.clock.nowMs = (harness.clock.nowMs ?? 0) + 1_000;
  return { caller, created, id: created.id };
};

const every = {
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

test.each(Object.entries(every))("%s changes alone, with updated_at, and is kept", async (name, value) => {
  const { caller, created, id } = await aClient();
  const changed = await harness.clients.updatePerson({ id, [name]: value }, { caller });
  expect(changed).toEqual({ ...created, [name]: value, updatedAtMs: created.updatedAtMs + 1_000n });
  expect(await harness.clients.getClient({ id }, { caller })).toEqual(changed);
});

test("an update that changes nothing leaves updated_at", async () => {
  const { caller, created, id } = await aClient();
  expect(await harness.clients.updatePerson({ id }, { caller })).toEqual(created);
  const same = { kycNote: "avant", blocked: false, riskLevel: RiskLevel.LOW, cleared: ["second_email"] };
  expect(await harness.clients.updatePerson({ id, ...same }, { caller })).toEqual(created);
  expect(await harness.clients.getClient({ id }, { caller })).toEqual(created);
});

test("each optional field is cleared by its name; the name of a required one clears nothing", async () => {
  const { caller, id } = await aClient();
  const full = await harness.clients.updatePerson({ id, ...every }, { caller });
  const cleared = {
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
  for (const [name, property] of Object.entries(cleared)) {
    expect(await harness.clients.updatePerson({ id, cleared: [name] }, { caller })).not.toHaveProperty(property);
  }
  const rest = await harness.clients.updatePerson({ id, cleared: ["email", "first_name", "blocked", "toString"] }, { caller });
  expect(rest).toEqual({ ...full, ...Object.fromEntries(Object.values(cleared).map((property) => [property, undefined])) });
});

test("updates of different fields at the same time both hold", async () => {
  const { caller, id } = await aClient();
  const changes = Object.entries(every).filter(([name]) => name !== "email");
  await Promise.all(changes.map(([name, value]) => harness.clients.updatePerson({ id, [name]: value }, { caller })));
  const { email: _, ...expected } = every;
  expect(await harness.clients.getClient({ id }, { caller })).toMatchObject(expected);
});

test("an e-mail address of another client of the business is refused in any case, and nothing changes", async () => {
  const { caller, created, id } = await aClient();
  const other = await harness.createPerson(caller, { email: "Taken@example.dz" });
  const taking = harness.clients.updatePerson({ id, email: "taken@EXAMPLE.dz", city: "Oran" }, { caller });
  expect(await refusal(taking)).toMatchObject({ kind: "conflict", code: "email_taken", pointer: "/email" });
  expect(await harness.clients.getClient({ id }, { caller })).toEqual(created);
  // Its own address in another case is its own.
  expect(await harness.clients.updatePerson({ id: other.id, email: "TAKEN@example.dz" }, { caller })).toMatchObject({
    email: "TAKEN@example.dz",
  });
});

test("of two clients that take one address at the same time one gets it", async () => {
  const { caller, id } = await aClient();
  const other = await harness.createPerson(caller);
  const results = await Promise.allSettled(
    [id, other.id].map((each) => harness.clients.updatePerson({ id: each, email: "race@example.dz" }, { caller })),
  );
  expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  const [lost] = results.filter((result) => result.status === "rejected");
  expect(lost?.reason).toMatchObject({ code: "email_taken" });
});

test("what a client's verification says and what its business changes at the same time both hold", async () => {
  const { caller, id } = await aClient();
  await Promise.all([
    harness.publish(aKycEvent({ ...caller, clientId: id })),
    harness.clients.updatePerson({ id, city: "Oran" }, { caller }),
  ]);
  const [row] = await harness.sql("select kyc_status, city from client where id = ?", [id]);
  expect(row).toEqual({ kyc_status: "CREATED", city: "Oran" });
});

test("another business's client, an unknown id and a malformed one are refused alike, and nothing changes", async () => {
  const { caller, created, id } = await aClient();
  const change = (asked: string) =>
    refusal(harness.clients.updatePerson({ id: asked, city: "Oran" }, { caller: aBusinessCaller() }));
  const unknown = await change(uuidv7());
  expect(unknown).toMatchObject({ kind: "not_found", code: "not_found" });
  for (const asked of [id, "nonsense"]) expect(await change(asked)).toEqual(unknown);
  expect(await harness.clients.getClient({ id }, { caller })).toEqual(created);
});
