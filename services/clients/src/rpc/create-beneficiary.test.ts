import { BeneficiaryType } from "@amana/contracts/clients/v1/beneficiary_pb";
import { allBusinesses, lockRow } from "@amana/database";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, refusal, withIdempotencyKey } from "@amana/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aBeneficiary, type Harness, startHarness } from "../../test/harness.ts";
import { clientNotFound } from "../client/client.errors.ts";
import { Client } from "../client/client.ts";

let harness: Harness;
const caller = aBusinessCaller();
let clientId: string;
beforeAll(async () => {
  harness = await startHarness();
  clientId = (await harness.createPerson(caller)).id;
});
afterAll(() => harness[Symbol.asyncDispose]());

const createBeneficiary = (changes: object, options: object = {}) =>
  harness.beneficiaries.createBeneficiary({ ...aBeneficiary, clientId, ...changes }, { caller, ...options });
const countBeneficiaries = async () => (await harness.sql<{ n: number }>("select count(*)::int as n from beneficiary"))[0]?.n;

describe("createBeneficiary", () => {
  test("createBeneficiary stores and returns all fields of the request", async () => {
    const fields = {
      type: BeneficiaryType.COMPANY,
      name: "Sarl El Amel",
      display: false,
      accountNumber: "00799999002345678941",
      iban: "DZ580002100001113000000570",
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
    const createdBeneficiary = await createBeneficiary(fields);
    expect(createdBeneficiary).toMatchObject({ ...fields, clientId, businessId: caller.businessId });
    expect(createdBeneficiary.createdAtMs).toBe(createdBeneficiary.updatedAtMs);
    expect(await harness.beneficiaries.getBeneficiary({ id: createdBeneficiary.id }, { caller })).toEqual(createdBeneficiary);
  });

  test("createBeneficiary uses the defaults PERSON for the type and true for display", async () => {
    expect(await createBeneficiary({})).toMatchObject({ type: BeneficiaryType.PERSON, display: true });
  });

  test.each([
    { iban: undefined, accountNumber: "A1" },
    { iban: "GB29NWBK60161331926819" },
    { iban: "GB29NWBK60161331926819", accountNumber: "A1" },
  ])("createBeneficiary accepts a request with an IBAN or an account number: %j", async (changes) => {
    expect((await createBeneficiary(changes)).id).toBeTruthy();
  });

  test.each([{ iban: undefined }, { iban: "" }, { iban: undefined, accountNumber: "" }])(
    "createBeneficiary rejects a request that contains neither an IBAN nor an account number: %j",
    async (changes) => {
      const countBefore = await countBeneficiaries();
      expect(await refusal(createBeneficiary({ ...changes, bic: "BEXADZAL" }))).toMatchObject({
        kind: "invalid",
        code: "beneficiary_needs_iban_or_account_number",
        pointer: "/iban",
      });
      expect(await countBeneficiaries()).toBe(countBefore);
    },
  );

  test.each([
    [{ iban: "DZ580002100001113000000571" }, "/iban"],
    [{ accountNumber: "12 34" }, "/account_number"],
    [{ bic: "BEXAZZAL" }, "/bic"],
    [{ swiftCode: "BEXADZA" }, "/swift_code"],
    [{ routingNumber: "021000022" }, "/routing_number"],
  ])("createBeneficiary rejects the invalid payment detail %j", async (changes, pointer) => {
    expect(await refusal(createBeneficiary(changes))).toMatchObject({ kind: "invalid", code: "payment_detail_invalid", pointer });
  });

  test("createBeneficiary throws the same error client_not_found for another business's client, an unknown id and a malformed id", async () => {
    const foreignClient = await harness.createPerson();
    for (const otherId of [uuidv7(), foreignClient.id, "no id", ""]) {
      expect(await refusal(createBeneficiary({ clientId: otherId }))).toMatchObject({
        kind: "not_found",
        code: "client_not_found",
      });
    }
  });

  test("createBeneficiary rejects a blocked client and accepts a blacklisted client", async () => {
    const blockedClient = await harness.createPerson(caller, { blocked: true });
    expect(await refusal(createBeneficiary({ clientId: blockedClient.id }))).toMatchObject({
      kind: "conflict",
      code: "client_blocked",
      pointer: "/client_id",
    });
    const blacklistedClient = await harness.createPerson(caller, { isBlacklisted: true });
    expect((await createBeneficiary({ clientId: blacklistedClient.id })).clientId).toBe(blacklistedClient.id);
  });

  test("createBeneficiary returns the existing beneficiary for a repeated Idempotency-Key, and rejects a different request with this key", async () => {
    const countBefore = (await countBeneficiaries()) ?? 0;
    const [firstOptions, secondOptions] = [withIdempotencyKey(caller, "k-1"), withIdempotencyKey(caller, "k-1")];
    const createdBeneficiary = await createBeneficiary({}, firstOptions);
    expect(await createBeneficiary({}, secondOptions)).toEqual(createdBeneficiary);
    expect([firstOptions.replayed, secondOptions.replayed]).toEqual([false, true]);
    expect(await countBeneficiaries()).toBe(countBefore + 1);
    expect(await refusal(createBeneficiary({}, withIdempotencyKey(caller, "k-1", "f2")))).toMatchObject({
      code: "idempotency_key_reused",
    });
  });

  test("createBeneficiary accepts an Idempotency-Key again if the first request with this key was refused", async () => {
    expect(await refusal(createBeneficiary({ iban: undefined }, withIdempotencyKey(caller, "k-2")))).toMatchObject({
      kind: "invalid",
    });
    expect((await createBeneficiary({}, withIdempotencyKey(caller, "k-2"))).id).toBeTruthy();
  });

  test("createBeneficiary rejects an operator's key", async () => {
    const adminRequest = harness.beneficiaries.createBeneficiary({ ...aBeneficiary, clientId }, { caller: adminCaller });
    expect(await refusal(adminRequest)).toMatchObject({ code: "business_key_required" });
  });
});

describe("createBeneficiary for a client who is blocked concurrently", () => {
  /** Blocks a client in a transaction, and runs `beforeCommit` before the transaction commits. */
  const blockClient = (id: string, beforeCommit: () => Promise<void>) =>
    harness.transaction(async (em) => {
      const client = await lockRow(em, Client, allBusinesses, id, clientNotFound);
      client.change({ blocked: true }, new Date());
      await em.flush();
      await beforeCommit();
    });

  test("createBeneficiary waits for a concurrent transaction that blocks the client, and then throws client_blocked", async () => {
    const { id } = await harness.createPerson(caller);
    const earlierBeneficiary = await createBeneficiary({ clientId: id });
    let lateError: Promise<unknown> | undefined;
    await blockClient(id, async () => {
      lateError = refusal(createBeneficiary({ clientId: id }));
      await harness.waitForLockedSessions();
    });
    expect(await lateError).toMatchObject({ code: "client_blocked" });
    expect(await harness.beneficiaries.getBeneficiary({ id: earlierBeneficiary.id }, { caller })).toEqual(earlierBeneficiary);
  });
});
