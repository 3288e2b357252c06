import { BeneficiaryType } from "@amana/contracts/clients/v1/beneficiary_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, refusal } from "@amana/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
const caller = aBusinessCaller();
beforeAll(async () => {
  harness = await startHarness();
});
afterEach(() => {
  harness.clock.nowMs = undefined;
});
afterAll(() => harness[Symbol.asyncDispose]());

const iban = "DZ580002100001113000000570";
const completeBeneficiary = {
  type: BeneficiaryType.PERSON,
  name: "Karim Haddad",
  display: true,
  accountNumber: "00799999002345678941",
  iban,
  bic: "BEXADZAL",
  swiftCode: "BEXADZALXXX",
  routingNumber: "021000021",
  bankName: "Banque",
  bankAddress: "1 rue de la Banque",
  address: "2 rue du Port",
  city: "Oran",
  postalCode: "31000",
  countryCode: "DZA",
};
const update = (id: string, changes: object, updateCaller: object = caller) =>
  harness.beneficiaries.updateBeneficiary({ id, ...changes }, { caller: updateCaller as typeof caller });
const read = (id: string) => harness.beneficiaries.getBeneficiary({ id }, { caller });

describe("updateBeneficiary", () => {
  test.each([
    { type: BeneficiaryType.COMPANY },
    { name: "Sarl El Amel" },
    { display: false },
    { accountNumber: "B2" },
    { iban: "GB29NWBK60161331926819" },
    { bic: "DEUTDEFF500" },
    { swiftCode: "BNPAFRPP" },
    { routingNumber: "011401533" },
    { bankName: "Crédit" },
    { bankAddress: "3 rue" },
    { address: "4 rue" },
    { city: "Alger" },
    { postalCode: "16000" },
    { countryCode: "FRA" },
  ])("changes only %o", async (changes) => {
    const before = await harness.createBeneficiary(caller, completeBeneficiary);
    harness.clock.nowMs = Number(before.createdAtMs) + 60_000;
    const changed = await update(before.id, changes);
    expect(changed).toEqual({ ...before, ...changes, updatedAtMs: before.updatedAtMs + 60_000n });
    expect(await read(before.id)).toEqual(changed);
  });

  test.each([
    ["account_number", "accountNumber"],
    ["iban", "iban"],
    ["bic", "bic"],
    ["swift_code", "swiftCode"],
    ["routing_number", "routingNumber"],
    ["bank_name", "bankName"],
    ["bank_address", "bankAddress"],
    ["address", "address"],
    ["city", "city"],
    ["postal_code", "postalCode"],
    ["country_code", "countryCode"],
  ] as const)("clears %s", async (name, column) => {
    const before = await harness.createBeneficiary(caller, completeBeneficiary);
    const changed = await update(before.id, { cleared: [name] });
    expect(changed[column]).toBeUndefined();
    expect({ ...changed, updatedAtMs: 0n }).toEqual({ ...before, [column]: undefined, updatedAtMs: 0n });
    expect((await read(before.id))[column]).toBeUndefined();
  });

  test("keeps updated_at for no change, equal values and clearing an absent field", async () => {
    const before = await harness.createBeneficiary(caller, { iban });
    harness.clock.nowMs = Number(before.createdAtMs) + 60_000;
    for (const changes of [{}, { iban, name: before.name, display: true }, { cleared: ["city"] }]) {
      expect(await update(before.id, changes)).toEqual(before);
    }
  });

  test("accepts a change for a blocked client", async () => {
    const { id, clientId } = await harness.createBeneficiary(caller);
    await harness.clients.updatePerson({ id: clientId, blocked: true }, { caller });
    expect(await update(id, { display: false })).toMatchObject({ display: false });
  });
});

describe("updateBeneficiary, payment details", () => {
  test.each([
    [{ iban }, { cleared: ["iban"] }],
    [{ iban: undefined, accountNumber: "A1" }, { cleared: ["account_number"] }],
    [{ iban, accountNumber: "A1" }, { cleared: ["iban", "account_number"] }],
    [{ iban }, { cleared: ["iban"], bic: "BEXADZAL", name: "Another" }],
    [{ iban }, { iban: "" }],
  ])("rejects, for %o, the change %o, because neither IBAN nor account number would remain", async (details, changes) => {
    const before = await harness.createBeneficiary(caller, details);
    expect(await refusal(update(before.id, changes))).toMatchObject({
      kind: "invalid",
      code: "beneficiary_needs_iban_or_account_number",
    });
    expect(await read(before.id)).toEqual(before);
  });

  test.each([
    [{ iban: "DZ580002100001113000000571" }, "/iban"],
    [{ accountNumber: "1".repeat(35) }, "/account_number"],
    [{ bic: "BEXAZZAL" }, "/bic"],
    [{ swiftCode: "BEXADZA" }, "/swift_code"],
    [{ routingNumber: "021000022" }, "/routing_number"],
  ])("rejects the invalid value %o and changes nothing", async (details, pointer) => {
    const before = await harness.createBeneficiary(caller, completeBeneficiary);
    expect(await refusal(update(before.id, { name: "Another", ...details }))).toMatchObject({
      kind: "invalid",
      code: "payment_detail_invalid",
      pointer,
    });
    expect(await read(before.id)).toEqual(before);
  });

  test("are validated together with the stored values", async () => {
    const before = await harness.createBeneficiary(caller, completeBeneficiary);
    await harness.sql("update beneficiary set bic = 'OLD' where id = ?", [before.id]);
    expect(await refusal(update(before.id, { name: "Another" }))).toMatchObject({ pointer: "/bic" });
    expect(await update(before.id, { name: "Another", cleared: ["bic"] })).toMatchObject({ name: "Another" });
  });

  test("can change from an IBAN to an account number and back", async () => {
    const { id } = await harness.createBeneficiary(caller, { iban });
    expect((await update(id, { cleared: ["iban"], accountNumber: "A1" })).iban).toBeUndefined();
    expect(await update(id, { iban, cleared: ["account_number"] })).toMatchObject({ iban });
  });
});

describe("updateBeneficiary, concurrent changes", () => {
  /** Starts all changes while the row is locked, and releases the lock when all of them wait. */
  async function updateConcurrently(id: string, changes: readonly object[]) {
    let updates: Promise<PromiseSettledResult<unknown>[]> | undefined;
    await harness.transaction(async (em) => {
      await em.execute("select from beneficiary where id = ? for update", [id]);
      updates = Promise.allSettled(changes.map((change) => update(id, change)));
      await harness.untilSessionsWait(changes.length);
    });
    return (await updates) ?? [];
  }

  test("of different fields are all applied", async () => {
    const { id } = await harness.createBeneficiary(caller, completeBeneficiary);
    const results = await updateConcurrently(id, [
      { name: "Another" },
      { city: "Alger" },
      { display: false },
      { cleared: ["bic"] },
    ]);
    expect(results.map(({ status }) => status)).toEqual(Array(4).fill("fulfilled"));
    const after = await read(id);
    expect(after).toMatchObject({ name: "Another", city: "Alger", display: false });
    expect(after.bic).toBeUndefined();
  });

  test("cannot clear both the IBAN and the account number", async () => {
    const { id } = await harness.createBeneficiary(caller, completeBeneficiary);
    const results = await updateConcurrently(id, [{ cleared: ["iban"] }, { cleared: ["account_number"] }]);
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect(refused).toMatchObject([{ code: "beneficiary_needs_iban_or_account_number" }]);
    const { iban: left, accountNumber } = await read(id);
    expect([left, accountNumber].filter((detail) => detail !== undefined)).toHaveLength(1);
  });
});

test("updateBeneficiary returns the same error for another business's beneficiary as for an unknown id", async () => {
  const foreign = await harness.createBeneficiary(aBusinessCaller());
  const refusals = await Promise.all(
    [foreign.id, uuidv7(), "no id"].map((id) => refusal(update(id, { name: "Mine" })).then((error) => (error as Error).message)),
  );
  expect(new Set(refusals).size).toBe(1);
  expect(await refusal(update(foreign.id, { name: "Mine" }))).toMatchObject({ kind: "not_found", code: "not_found" });
});

test("updateBeneficiary rejects an operator's key", async () => {
  const { id } = await harness.createBeneficiary(caller);
  expect(await refusal(update(id, {}, adminCaller))).toMatchObject({ code: "business_key_required" });
});
