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

test("listClients returns pages with the newest clients first, and the total of all pages", async () => {
  const caller = aBusinessCaller();
  const ids: string[] = [];
  // Two clients with the same creation time are ordered by id.
  for (const ms of [0, 1, 1, 2]) {
    harness.clock.nowMs = Date.parse("2026-11-20T10:00:00Z") + ms;
    ids.push((await harness.createPerson(caller)).id);
  }
  harness.clock.nowMs = undefined;
  const [first = "", a = "", b = "", last = ""] = ids;
  const [older, newer] = [a, b].sort();
  const page = async (limit: number, offset: number) => {
    const { clients, total } = await harness.clients.listClients({ limit, offset }, { caller });
    expect(total).toBe(4);
    return clients.map(({ id }) => id);
  };
  expect(await page(50, 0)).toEqual([last, newer, older, first]);
  expect(await page(2, 1)).toEqual([newer, older]);
  expect(await page(2, 4)).toEqual([]);
});

test("listClients returns no clients of another business, and rejects an operator's key", async () => {
  const { email } = await harness.createPerson();
  expect(await list(aBusinessCaller())).toEqual([]);
  expect(await list(aBusinessCaller(), { email, search: "amina" })).toEqual([]);
  await expect(harness.clients.listClients({ limit: 1 }, { caller: adminCaller })).rejects.toMatchObject({
    code: "business_key_required",
  });
});

test("listClients applies each filter, also combined", async () => {
  const caller = aBusinessCaller();
  const create = async (changes: Person) => (await harness.createPerson(caller, changes)).id;
  const plain = await create({ email: "Plain@Example.dz" });
  const risky = await create({ riskLevel: RiskLevel.HIGH, blocked: true, externalClientCode: "C-1" });
  const listed = await create({ isBlacklisted: true, riskLevel: RiskLevel.HIGH });
  await harness.publish(aKycEvent({ ...caller, clientId: plain }));
  expect(await list(caller, { kycStatus: ClientKycStatus.CREATED })).toEqual([plain]);
  expect(await list(caller, { kycStatus: ClientKycStatus.NOT_STARTED })).toEqual([listed, risky]);
  expect(await list(caller, { kycStatus: ClientKycStatus.VALIDATED })).toEqual([]);
  expect(await list(caller, { riskLevel: RiskLevel.HIGH })).toEqual([listed, risky]);
  expect(await list(caller, { riskLevel: RiskLevel.LOW })).toEqual([plain]);
  expect(await list(caller, { blocked: true })).toEqual([risky]);
  expect(await list(caller, { blocked: false })).toEqual([listed, plain]);
  expect(await list(caller, { isBlacklisted: true })).toEqual([listed]);
  expect(await list(caller, { isBlacklisted: false })).toEqual([risky, plain]);
  expect(await list(caller, { email: "pLAIN@example.DZ" })).toEqual([plain]);
  expect(await list(caller, { email: "plain@example" })).toEqual([]);
  expect(await list(caller, { externalClientCode: "C-1" })).toEqual([risky]);
  expect(await list(caller, { externalClientCode: "C" })).toEqual([]);
  expect(await list(caller, { riskLevel: RiskLevel.HIGH, blocked: false })).toEqual([listed]);
});

describe("listClients, search", () => {
  let caller: ReturnType<typeof aBusinessCaller>;
  let [amelie, odd, arabic]: string[] = [];
  beforeAll(async () => {
    caller = aBusinessCaller();
    const create = async (changes: Person) => (await harness.createPerson(caller, changes)).id;
    amelie = await create({
      firstName: "Amélie",
      middleName: "Lila",
      lastName: "O'Neil",
      email: "Zoe.Q@example.dz",
      externalClientCode: "Code-42",
    });
    odd = await create({ firstName: "100%", lastName: String.raw`back\slash_under"quote`, email: "odd@example.org" });
    arabic = await create({ firstName: "أمينة", lastName: "بن علي", email: "arabic@example.org" });
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
  ])("finds %s in the names, the e-mail address or the code, in upper or lower case", async (search) => {
    expect(await list(caller, { search })).toEqual([amelie]);
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
  ])("finds %s literally", async (search, name) => {
    expect(await list(caller, { search })).toEqual([{ odd, amelie, arabic }[name]]);
  });

  test.each(["%%", "a%e", "_____", "\\\\", "x' or '1'='1", "neil zoe", "42 amélie", "$1", "?", "a".repeat(10_240)])(
    "returns no result for %s",
    async (search) => {
      expect(await list(caller, { search })).toEqual([]);
    },
  );

  test("finds the start and the end of texts of maximum length in any script", async () => {
    const owner = aBusinessCaller();
    // Random letters cannot be compressed in the index.
    const randomLetters = (length: number, from: number, count: number) =>
      Array.from({ length }, () => String.fromCodePoint(from + randomInt(count))).join("");
    const create = async (letters: (length: number) => string) => {
      const [firstName, middleName, lastName, externalClientCode] = [letters(200), letters(200), letters(200), letters(200)];
      const { id } = await harness.createPerson(owner, { firstName, middleName, lastName, externalClientCode });
      return { id, firstName, middleName, lastName, externalClientCode };
    };
    const arabic = await create((length) => randomLetters(length, 0x628, 24));
    expect(await list(owner, { search: `${arabic.firstName.slice(-9)} ${arabic.lastName.slice(0, 9)}` })).toEqual([arabic.id]);
    expect(await list(owner, { search: arabic.externalClientCode.slice(-20) })).toEqual([arabic.id]);
    const ideographs = await create((length) => randomLetters(length, 0x20000, 40_000));
    expect(await list(owner, { search: ideographs.externalClientCode.slice(-20) })).toEqual([ideographs.id]);
    expect(await list(owner, { search: ideographs.firstName.slice(-20) })).toEqual([ideographs.id]);
    const update = harness.clients.updatePerson({ id: ideographs.id, stateProvince: "x" }, { caller: owner });
    expect(await update).toMatchObject({ stateProvince: "x" });
  });
});
