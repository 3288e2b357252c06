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

const create = (changes: object, options: object = {}) =>
  harness.beneficiaries.createBeneficiary({ ...aBeneficiary, clientId, ...changes }, { caller, ...options });
const count = async () => (await harness.sql<{ n: number }>("select count(*)::int as n from beneficiary"))[0]?.n;

describe("creating a beneficiary", () => {
  test("stores and answers all that was sent", async () => {
    const given = {
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
    const created = await create(given);
    expect(created).toMatchObject({ ...given, clientId, businessId: caller.businessId });
    expect(created.createdAtMs).toBe(created.updatedAtMs);
    expect(await harness.beneficiaries.getBeneficiary({ id: created.id }, { caller })).toEqual(created);
  });

  test("is a person, and shown, unless something else is said", async () => {
    expect(await create({})).toMatchObject({ type: BeneficiaryType.PERSON, display: true });
  });

  test.each([
    { iban: undefined, accountNumber: "A1" },
    { iban: "GB29NWBK60161331926819" },
    { iban: "GB29NWBK60161331926819", accountNumber: "A1" },
  ])("takes %o: an IBAN or an account number is enough", async (changes) => {
    expect((await create(changes)).id).toBeTruthy();
  });

  test.each([{ iban: undefined }, { iban: "" }, { iban: undefined, accountNumber: "" }])(
    "with neither IBAN nor account number is refused: %o",
    async (changes) => {
      const before = await count();
      expect(await refusal(create({ ...changes, bic: "BEXADZAL" }))).toMatchObject({
        kind: "invalid",
        code: "beneficiary_needs_iban_or_account_number",
        pointer: "/iban",
      });
      expect(await count()).toBe(before);
    },
  );

  test.each([
    [{ iban: "DZ580002100001113000000571" }, "/iban"],
    [{ accountNumber: "12 34" }, "/account_number"],
    [{ bic: "BEXAZZAL" }, "/bic"],
    [{ swiftCode: "BEXADZA" }, "/swift_code"],
    [{ routingNumber: "021000022" }, "/routing_number"],
  ])("with a payment detail that the gateway should not have let through is refused: %o", async (changes, pointer) => {
    expect(await refusal(create(changes))).toMatchObject({ kind: "invalid", code: "payment_detail_invalid", pointer });
  });

  test("for an unknown, foreign or malformed client is refused alike", async () => {
    const foreign = await harness.createPerson();
    for (const other of [uuidv7(), foreign.id, "no id", ""]) {
      expect(await refusal(create({ clientId: other }))).toMatchObject({ kind: "not_found", code: "client_not_found" });
    }
  });

  test("for a blocked client is refused, for a blacklisted one not", async () => {
    const blocked = await harness.createPerson(caller, { blocked: true });
    expect(await refusal(create({ clientId: blocked.id }))).toMatchObject({
      kind: "conflict",
      code: "client_blocked",
      pointer: "/client_id",
    });
    const blacklisted = await harness.createPerson(caller, { isBlacklisted: true });
    expect((await create({ clientId: blacklisted.id })).clientId).toBe(blacklisted.id);
  });

  test("with one Idempotency-Key happens once", async () => {
    const before = (await count()) ?? 0;
    const [first, second] = [withIdempotencyKey(caller, "k-1"), withIdempotencyKey(caller, "k-1")];
    const created = await create({}, first);
    expect(await create({}, second)).toEqual(created);
    expect([first.replayed, second.replayed]).toEqual([false, true]);
    expect(await count()).toBe(before + 1);
    expect(await refusal(create({}, withIdempotencyKey(caller, "k-1", "f2")))).toMatchObject({ code: "idempotency_key_reused" });
  });

  test("that was refused leaves its Idempotency-Key free", async () => {
    expect(await refusal(create({ iban: undefined }, withIdempotencyKey(caller, "k-2")))).toMatchObject({ kind: "invalid" });
    expect((await create({}, withIdempotencyKey(caller, "k-2"))).id).toBeTruthy();
  });

  test("is for businesses", async () => {
    const byAdmin = harness.beneficiaries.createBeneficiary({ ...aBeneficiary, clientId }, { caller: adminCaller });
    expect(await refusal(byAdmin)).toMatchObject({ code: "business_key_required" });
  });
});

describe("a client who is blocked at the same time", () => {
  /** Blocks a client, letting `meanwhile` run between the change and its commit. */
  const block = (id: string, meanwhile: () => Promise<void>) =>
    harness.transaction(async (em) => {
      const client = await lockRow(em, Client, allBusinesses, id, clientNotFound);
      client.change({ blocked: true }, new Date());
      await em.flush();
      await meanwhile();
    });

  test("has no beneficiary that was created after the block, and keeps one from before", async () => {
    const { id } = await harness.createPerson(caller);
    const early = await create({ clientId: id });
    let late: Promise<unknown> | undefined;
    await block(id, async () => {
      late = refusal(create({ clientId: id }));
      await harness.untilSomeoneWaits();
    });
    expect(await late).toMatchObject({ code: "client_blocked" });
    expect(await harness.beneficiaries.getBeneficiary({ id: early.id }, { caller })).toEqual(early);
  });
});
