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
const updateBeneficiary = (id: string, changes: object, updateCaller: object = caller) =>
  harness.beneficiaries.updateBeneficiary({ id, ...changes }, { caller: updateCaller as typeof caller });
const readBeneficiary = (id: string) => harness.beneficiaries.getBeneficiary({ id }, { caller });

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
  ])("updateBeneficiary changes only %j", async (changes) => {
    const beneficiaryBefore = await harness.createBeneficiary(caller, completeBeneficiary);
    harness.clock.nowMs = Number(beneficiaryBefore.createdAtMs) + 60_000;
    const changedBeneficiary = await updateBeneficiary(beneficiaryBefore.id, changes);
    expect(changedBeneficiary).toEqual({
      ...beneficiaryBefore,
      ...changes,
      updatedAtMs: beneficiaryBefore.updatedAtMs + 60_000n,
    });
    expect(await readBeneficiary(beneficiaryBefore.id)).toEqual(changedBeneficiary);
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
  ] as const)("updateBeneficiary clears the field %s", async (name, column) => {
    const beneficiaryBefore = await harness.createBeneficiary(caller, completeBeneficiary);
    const changedBeneficiary = await updateBeneficiary(beneficiaryBefore.id, { cleared: [name] });
    expect(changedBeneficiary[column]).toBeUndefined();
    expect({ ...changedBeneficiary, updatedAtMs: 0n }).toEqual({ ...beneficiaryBefore, [column]: undefined, updatedAtMs: 0n });
    expect((await readBeneficiary(beneficiaryBefore.id))[column]).toBeUndefined();
  });

  test("updateBeneficiary keeps updated_at if the request is empty, contains only equal values or clears an absent field", async () => {
    const beneficiaryBefore = await harness.createBeneficiary(caller, { iban });
    harness.clock.nowMs = Number(beneficiaryBefore.createdAtMs) + 60_000;
    for (const changes of [{}, { iban, name: beneficiaryBefore.name, display: true }, { cleared: ["city"] }]) {
      expect(await updateBeneficiary(beneficiaryBefore.id, changes)).toEqual(beneficiaryBefore);
    }
  });

  test("updateBeneficiary accepts a change while the client is blocked", async () => {
    const { id, clientId } = await harness.createBeneficiary(caller);
    await harness.clients.updatePerson({ id: clientId, blocked: true }, { caller });
    expect(await updateBeneficiary(id, { display: false })).toMatchObject({ display: false });
  });
});

describe("updateBeneficiary with payment details", () => {
  test.each([
    [{ iban }, { cleared: ["iban"] }],
    [{ iban: undefined, accountNumber: "A1" }, { cleared: ["account_number"] }],
    [{ iban, accountNumber: "A1" }, { cleared: ["iban", "account_number"] }],
    [{ iban }, { cleared: ["iban"], bic: "BEXADZAL", name: "Another" }],
    [{ iban }, { iban: "" }],
  ])(
    "updateBeneficiary, for the stored details %j, rejects the change %j because neither an IBAN nor an account number remains",
    async (details, changes) => {
      const beneficiaryBefore = await harness.createBeneficiary(caller, details);
      expect(await refusal(updateBeneficiary(beneficiaryBefore.id, changes))).toMatchObject({
        kind: "invalid",
        code: "beneficiary_needs_iban_or_account_number",
      });
      expect(await readBeneficiary(beneficiaryBefore.id)).toEqual(beneficiaryBefore);
    },
  );

  test.each([
    [{ iban: "DZ580002100001113000000571" }, "/iban"],
    [{ accountNumber: "1".repeat(35) }, "/account_number"],
    [{ bic: "BEXAZZAL" }, "/bic"],
    [{ swiftCode: "BEXADZA" }, "/swift_code"],
    [{ routingNumber: "021000022" }, "/routing_number"],
  ])("updateBeneficiary rejects the invalid payment detail %j and changes nothing", async (details, pointer) => {
    const beneficiaryBefore = await harness.createBeneficiary(caller, completeBeneficiary);
    expect(await refusal(updateBeneficiary(beneficiaryBefore.id, { name: "Another", ...details }))).toMatchObject({
      kind: "invalid",
      code: "payment_detail_invalid",
      pointer,
    });
    expect(await readBeneficiary(beneficiaryBefore.id)).toEqual(beneficiaryBefore);
  });

  test("updateBeneficiary rejects a change of the name if a stored payment detail is invalid and the request does not clear this detail", async () => {
    const beneficiaryBefore = await harness.createBeneficiary(caller, completeBeneficiary);
    await harness.sql("update beneficiary set bic = 'OLD' where id = ?", [beneficiaryBefore.id]);
    expect(await refusal(updateBeneficiary(beneficiaryBefore.id, { name: "Another" }))).toMatchObject({ pointer: "/bic" });
    expect(await updateBeneficiary(beneficiaryBefore.id, { name: "Another", cleared: ["bic"] })).toMatchObject({
      name: "Another",
    });
  });

  test("updateBeneficiary accepts a request that replaces the IBAN with an account number, or the account number with an IBAN", async () => {
    const { id } = await harness.createBeneficiary(caller, { iban });
    expect((await updateBeneficiary(id, { cleared: ["iban"], accountNumber: "A1" })).iban).toBeUndefined();
    expect(await updateBeneficiary(id, { iban, cleared: ["account_number"] })).toMatchObject({ iban });
  });
});

describe("updateBeneficiary with concurrent changes", () => {
  /**
   * Starts all changes while a transaction locks the beneficiary's row, and releases the lock when
   * all changes wait for it.
   */
  async function updateConcurrently(id: string, changes: readonly object[]) {
    let updates: Promise<PromiseSettledResult<unknown>[]> | undefined;
    await harness.transaction(async (em) => {
      await em.execute("select from beneficiary where id = ? for update", [id]);
      updates = Promise.allSettled(changes.map((change) => updateBeneficiary(id, change)));
      await harness.waitForLockedSessions(changes.length);
    });
    return (await updates) ?? [];
  }

  test("updateBeneficiary applies four concurrent changes if they concern different fields", async () => {
    const { id } = await harness.createBeneficiary(caller, completeBeneficiary);
    const results = await updateConcurrently(id, [
      { name: "Another" },
      { city: "Alger" },
      { display: false },
      { cleared: ["bic"] },
    ]);
    expect(results.map(({ status }) => status)).toEqual(Array(4).fill("fulfilled"));
    const beneficiaryAfter = await readBeneficiary(id);
    expect(beneficiaryAfter).toMatchObject({ name: "Another", city: "Alger", display: false });
    expect(beneficiaryAfter.bic).toBeUndefined();
  });

  test("updateBeneficiary rejects one of two concurrent requests if one clears the IBAN and the other clears the account number", async () => {
    const { id } = await harness.createBeneficiary(caller, completeBeneficiary);
    const results = await updateConcurrently(id, [{ cleared: ["iban"] }, { cleared: ["account_number"] }]);
    const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect(errors).toMatchObject([{ code: "beneficiary_needs_iban_or_account_number" }]);
    const { iban: remainingIban, accountNumber } = await readBeneficiary(id);
    expect([remainingIban, accountNumber].filter((detail) => detail !== undefined)).toHaveLength(1);
  });
});

test("updateBeneficiary throws the same error not_found for another business's beneficiary, an unknown id and a malformed id", async () => {
  const foreignBeneficiary = await harness.createBeneficiary(aBusinessCaller());
  const messages = await Promise.all(
    [foreignBeneficiary.id, uuidv7(), "no id"].map((id) =>
      refusal(updateBeneficiary(id, { name: "Mine" })).then((error) => (error as Error).message),
    ),
  );
  expect(new Set(messages).size).toBe(1);
  expect(await refusal(updateBeneficiary(foreignBeneficiary.id, { name: "Mine" }))).toMatchObject({
    kind: "not_found",
    code: "not_found",
  });
});

test("updateBeneficiary rejects an operator's key", async () => {
  const { id } = await harness.createBeneficiary(caller);
  expect(await refusal(updateBeneficiary(id, {}, adminCaller))).toMatchObject({ code: "business_key_required" });
});
