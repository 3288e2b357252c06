import { randomInt } from "node:crypto";
import { ClientKycStatus, RiskLevel } from "@amana/contracts/clients/v1/client_pb";
import { aBusinessCaller, adminCaller } from "@amana/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aKycEvent } from "../../test/a-kyc-event.ts";
import { type Harness, type Person, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

type Filter = Omit<Parameters<Harness["clients"]["listClients"]>[0], "$typeName">;
const list = async (caller: ReturnType<typeof aBusinessCaller>, filter: Filter = {}) => {
  const { clients, total } = await harness.clients.listClients({ limit: 50, offset: 0, ...filter }, { caller });
  expect(total).toBe(clients.length);
  return clients.map(({ id }) => id);
};

test("listClients returns pages in descending order of creation time and id, and the total of all pages", async () => {
  const caller = aBusinessCaller();
  const ids: string[] = [];
  // Two clients with the same creation time are ordered by id.
  for (const ms of [0, 1, 1, 2]) {
    harness.clock.nowMs = Date.parse("2026-11-20T10:00:00Z") + ms;
    ids.push((await harness.createPerson(caller)).id);
  }
  harness.clock.nowMs = undefined;
  const [firstId = "", twinA = "", twinB = "", lastId = ""] = ids;
  const [lowerTwin, higherTwin] = [twinA, twinB].sort();
  const readPage = async (limit: number, offset: number) => {
    const { clients, total } = await harness.clients.listClients({ limit, offset }, { caller });
    expect(total).toBe(4);
    return clients.map(({ id }) => id);
  };
  expect(await readPage(50, 0)).toEqual([lastId, higherTwin, lowerTwin, firstId]);
  expect(await readPage(2, 1)).toEqual([higherTwin, lowerTwin]);
  expect(await readPage(2, 4)).toEqual([]);
});

test("listClients returns no clients of another business, and rejects an operator's key", async () => {
  const { email } = await harness.createPerson();
  expect(await list(aBusinessCaller())).toEqual([]);
  expect(await list(aBusinessCaller(), { email, search: "amina" })).toEqual([]);
  await expect(harness.clients.listClients({ limit: 1 }, { caller: adminCaller })).rejects.toMatchObject({
    code: "business_key_required",
  });
});

test("listClients filters by KYC status, risk level, blocked, is_blacklisted, e-mail address and code, and by combinations", async () => {
  const caller = aBusinessCaller();
  const createPerson = async (changes: Person) => (await harness.createPerson(caller, changes)).id;
  const lowRiskClient = await createPerson({ email: "Plain@Example.dz" });
  const highRiskClient = await createPerson({ riskLevel: RiskLevel.HIGH, blocked: true, externalClientCode: "C-1" });
  const blacklistedClient = await createPerson({ isBlacklisted: true, riskLevel: RiskLevel.HIGH });
  await harness.publish(aKycEvent({ ...caller, clientId: lowRiskClient }));
  expect(await list(caller, { kycStatus: ClientKycStatus.CREATED })).toEqual([lowRiskClient]);
  expect(await list(caller, { kycStatus: ClientKycStatus.NOT_STARTED })).toEqual([blacklistedClient, highRiskClient]);
  expect(await list(caller, { kycStatus: ClientKycStatus.VALIDATED })).toEqual([]);
  expect(await list(caller, { riskLevel: RiskLevel.HIGH })).toEqual([blacklistedClient, highRiskClient]);
  expect(await list(caller, { riskLevel: RiskLevel.LOW })).toEqual([lowRiskClient]);
  expect(await list(caller, { blocked: true })).toEqual([highRiskClient]);
  expect(await list(caller, { blocked: false })).toEqual([blacklistedClient, lowRiskClient]);
  expect(await list(caller, { isBlacklisted: true })).toEqual([blacklistedClient]);
  expect(await list(caller, { isBlacklisted: false })).toEqual([highRiskClient, lowRiskClient]);
  expect(await list(caller, { email: "pLAIN@example.DZ" })).toEqual([lowRiskClient]);
  expect(await list(caller, { email: "plain@example" })).toEqual([]);
  expect(await list(caller, { externalClientCode: "C-1" })).toEqual([highRiskClient]);
  expect(await list(caller, { externalClientCode: "C" })).toEqual([]);
  expect(await list(caller, { riskLevel: RiskLevel.HIGH, blocked: false })).toEqual([blacklistedClient]);
});

describe("listClients, search", () => {
  let caller: ReturnType<typeof aBusinessCaller>;
  let [amelieClient, oddClient, arabicClient]: string[] = [];
  beforeAll(async () => {
    caller = aBusinessCaller();
    const createPerson = async (changes: Person) => (await harness.createPerson(caller, changes)).id;
    amelieClient = await createPerson({
      firstName: "Amélie",
      middleName: "Lila",
      lastName: "O'Neil",
      email: "Zoe.Q@example.dz",
      externalClientCode: "Code-42",
    });
    oddClient = await createPerson({ firstName: "100%", lastName: String.raw`back\slash_under"quote`, email: "odd@example.org" });
    arabicClient = await createPerson({ firstName: "أمينة", lastName: "بن علي", email: "arabic@example.org" });
  });

  test.each([
    ["amé"],
    ["AMÉLIE"],
    ["lil"],
    ["neil"],
    ["o'neil"],
    ["amélie o'neil"],
    ["Amélie Lila O'Neil"],
    ["lie O"],
    ["zoe.q"],
    ["@EXAMPLE.DZ"],
    ["code-42"],
  ])("listClients searches for %s in names, e-mail address and code, without regard to case", async (search) => {
    expect(await list(caller, { search })).toEqual([amelieClient]);
  });

  test.each([
    ["%", "odd"],
    ["0%", "odd"],
    ["_", "odd"],
    ["\\", "odd"],
    [String.raw`k\s`, "odd"],
    ['"', "odd"],
    ["'", "amelie"],
    ["أمينة", "arabic"],
    ["ينة بن", "arabic"],
  ])("listClients searches for %s literally", async (search, name) => {
    expect(await list(caller, { search })).toEqual([{ odd: oddClient, amelie: amelieClient, arabic: arabicClient }[name]]);
  });

  test.each(["%%", "a%e", "_____", "\\\\", "x' or '1'='1", "neil zoe", "42 amélie", "$1", "?", "a".repeat(10_240)])(
    "listClients returns no result for the search %s",
    async (search) => {
      expect(await list(caller, { search })).toEqual([]);
    },
  );

  test("listClients finds clients by the first or last characters of a name or code with 200 Arabic letters or ideographs", async () => {
    const otherCaller = aBusinessCaller();
    // Random letters make the index entries as large as possible, because PostgreSQL cannot
    // compress them.
    const randomLetters = (length: number, from: number, count: number) =>
      Array.from({ length }, () => String.fromCodePoint(from + randomInt(count))).join("");
    const createPerson = async (letters: (length: number) => string) => {
      const [firstName, middleName, lastName, externalClientCode] = [letters(200), letters(200), letters(200), letters(200)];
      const { id } = await harness.createPerson(otherCaller, { firstName, middleName, lastName, externalClientCode });
      return { id, firstName, middleName, lastName, externalClientCode };
    };
    const arabicClient = await createPerson((length) => randomLetters(length, 0x628, 24));
    expect(
      await list(otherCaller, { search: `${arabicClient.firstName.slice(-9)} ${arabicClient.lastName.slice(0, 9)}` }),
    ).toEqual([arabicClient.id]);
    expect(await list(otherCaller, { search: arabicClient.externalClientCode.slice(-20) })).toEqual([arabicClient.id]);
    const ideographs = await createPerson((length) => randomLetters(length, 0x20000, 40_000));
    expect(await list(otherCaller, { search: ideographs.externalClientCode.slice(-20) })).toEqual([ideographs.id]);
    expect(await list(otherCaller, { search: ideographs.firstName.slice(-20) })).toEqual([ideographs.id]);
    const update = harness.clients.updatePerson({ id: ideographs.id, stateProvince: "x" }, { caller: otherCaller });
    expect(await update).toMatchObject({ stateProvince: "x" });
  });
});
