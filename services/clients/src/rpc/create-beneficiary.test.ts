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

describe("createBeneficiary", () => {
  test("stores and returns all fields of the request", async () => {
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
    const created = await create(fields);
    expect(created).toMatchObject({ ...fields, clientId, businessId: caller.businessId });
    expect(created.createdAtMs).toBe(created.updatedAtMs);
    expect(await harness.beneficiaries.getBeneficiary({ id: created.id }, { caller })).toEqual(created);
  });

  test("uses the defaults PERSON and display", async () => {
    expect(await create({})).toMatchObject({ type: BeneficiaryType.PERSON, display: true });
  });

  test.each([
    { iban: undefined, accountNumber: "A1" },
    { iban: "GB29NWBK60161331926819" },
    { iban: "GB29NWBK60161331926819", accountNumber: "A1" },
  ])("accepts %o, because an IBAN or an account number is sufficient", async (changes) => {
    expect((await create(changes)).id).toBeTruthy();
  });

  test.each([{ iban: undefined }, { iban: "" }, { iban: undefined, accountNumber: "" }])(
    "rejects a request with neither IBAN nor account number: %o",
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
  ])("rejects an invalid payment detail that the gateway did not reject: %o", async (changes, pointer) => {
    expect(await refusal(create(changes))).toMatchObject({ kind: "invalid", code: "payment_detail_invalid", pointer });
  });

  test("returns the same error for another business's client, an unknown id and a malformed id", async () => {
    const foreign = await harness.createPerson();
    for (const other of [uuidv7(), foreign.id, "no id", ""]) {
      expect(await refusal(create({ clientId: other }))).toMatchObject({ kind: "not_found", code: "client_not_found" });
    }
  });

  test("rejects a blocked client and accepts a blacklisted client", async () => {
    const blocked = await harness.createPerson(caller, { blocked: true });
    expect(await refusal(create({ clientId: blocked.id }))).toMatchObject({
      kind: "conflict",
      code: "client_blocked",
      pointer: "/client_id",
    });
    const blacklisted = await harness.createPerson(caller, { isBlacklisted: true });
    expect((await create({ clientId: blacklisted.id })).clientId).toBe(blacklisted.id);
  });

  test("creates once per Idempotency-Key", async () => {
    const before = (await count()) ?? 0;
    const [first, second] = [withIdempotencyKey(caller, "k-1"), withIdempotencyKey(caller, "k-1")];
    const created = await create({}, first);
    expect(await create({}, second)).toEqual(created);
    expect([first.replayed, second.replayed]).toEqual([false, true]);
    expect(await count()).toBe(before + 1);
    expect(await refusal(create({}, withIdempotencyKey(caller, "k-1", "f2")))).toMatchObject({ code: "idempotency_key_reused" });
  });

  test("does not use the Idempotency-Key of a refused request", async () => {
    expect(await refusal(create({ iban: undefined }, withIdempotencyKey(caller, "k-2")))).toMatchObject({ kind: "invalid" });
    expect((await create({}, withIdempotencyKey(caller, "k-2"))).id).toBeTruthy();
  });

  test("rejects an operator's key", async () => {
    const byAdmin = harness.beneficiaries.createBeneficiary({ ...aBeneficiary, clientId }, { caller: adminCaller });
    expect(await refusal(byAdmin)).toMatchObject({ code: "business_key_required" });
  });
});

describe("createBeneficiary for a client who is blocked concurrently", () => {
  /** Blocks a client, and runs `beforeCommit` between the change and its commit. */
  const block = (id: string, beforeCommit: () => Promise<void>) =>
    harness.transaction(async (em) => {
      const client = await lockRow(em, Client, allBusinesses, id, clientNotFound);
      client.change({ blocked: true }, new Date());
      await em.flush();
      await beforeCommit();
    });

  test("rejects a creation after the block, and keeps an earlier beneficiary", async () => {
    const { id } = await harness.createPerson(caller);
    const early = await create({ clientId: id });
    let late: Promise<unknown> | undefined;
    await block(id, async () => {
      late = refusal(create({ clientId: id }));
      await harness.untilSessionsWait();
    });
    expect(await late).toMatchObject({ code: "client_blocked" });
    expect(await harness.beneficiaries.getBeneficiary({ id: early.id }, { caller })).toEqual(early);
  });
});
