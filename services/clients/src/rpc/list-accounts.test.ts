import { type Account, AccountStatus, AccountType } from "@amana/contracts/clients/v1/account_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, refusal } from "@amana/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
const caller = aBusinessCaller();
let stored: Record<string, Account>;

beforeAll(async () => {
  harness = await startHarness();
  const { id: clientId } = await harness.createPerson(caller);
  const open = async (hour: number, changes: object) => {
    harness.clock.nowMs = Date.UTC(2026, 2, 1, hour);
    return await harness.openAccount(caller, { clientId, ...changes });
  };
  const openActive = async (hour: number, changes: object) => {
    harness.clock.nowMs = Date.UTC(2026, 2, 1, hour);
    return await harness.anActiveAccount(caller, changes);
  };
  stored = {
    plain: await open(1, { accountName: "Household" }),
    twin: await open(1, { accountName: "household savings", type: AccountType.SAVINGS }),
    percent: await open(2, { accountName: "100% Laine_Soie \\ Fils", externalAccountId: "Ext-1", currency: "EUR" }),
    arabic: await open(3, { accountName: "حساب التوفير" }),
    active: await openActive(4, { accountName: 'L\'"autre"' }),
  };
  await harness.openAccount(aBusinessCaller(), { accountName: "Household" });
});
afterAll(() => harness[Symbol.asyncDispose]());

const list = async (filter: object = {}, listCaller = caller) => {
  const { accounts, total } = await harness.accounts.listAccounts({ limit: 50, ...filter }, { caller: listCaller });
  const nameOf = (id: string) => Object.keys(stored).find((name) => stored[name]?.id === id) ?? "unknown";
  return { names: accounts.map(({ id }) => nameOf(id)), total };
};
const found = async (search: string) => (await list({ search })).names.sort();

describe("listAccounts", () => {
  test("returns pages with the newest accounts first, by id within a millisecond, and the total of all pages", async () => {
    const twins = ["plain", "twin"].sort((a, b) => ((stored[a]?.id ?? "") > (stored[b]?.id ?? "") ? -1 : 1));
    expect(await list()).toEqual({ names: ["active", "arabic", "percent", ...twins], total: 5 });
    expect(await list({ limit: 2, offset: 1 })).toEqual({ names: ["arabic", "percent"], total: 5 });
    expect(await list({ limit: 2, offset: 5 })).toEqual({ names: [], total: 5 });
  });

  test("returns each account as getAccount does", async () => {
    const { accounts } = await harness.accounts.listAccounts({ limit: 1, search: "100%" }, { caller });
    expect(accounts).toEqual([stored["percent"]]);
  });

  test("filters by client, type, status and currency, also combined", async () => {
    expect((await list({ clientId: stored["active"]?.clientId })).names).toEqual(["active"]);
    expect((await list({ type: AccountType.SAVINGS })).names).toEqual(["twin"]);
    expect((await list({ status: AccountStatus.ACTIVE })).names).toEqual(["active"]);
    expect((await list({ status: AccountStatus.PENDING })).total).toBe(4);
    expect((await list({ currency: "EUR" })).names).toEqual(["percent"]);
    expect((await list({ currency: "XXX" })).total).toBe(0);
    expect((await list({ type: AccountType.SAVINGS, currency: "EUR" })).total).toBe(0);
  });

  test("returns no accounts of another business", async () => {
    expect(await list({}, aBusinessCaller())).toEqual({ names: [], total: 0 });
    expect(await list({ search: "household" }, aBusinessCaller())).toEqual({ names: [], total: 0 });
  });
});

describe("listAccounts, search", () => {
  test.each([
    ["HOUSEHOLD", ["plain", "twin"]],
    ["التوفير", ["arabic"]],
    ["ext-1", ["percent"]],
    ["%", ["percent"]],
    ["_", ["percent"]],
    ["\\", ["percent"]],
    ["'", ["active"]],
    ['"', ["active"]],
    ["h_usehold", []],
    ["' or ''='", []],
    ["   ", []],
    ["a".repeat(10_240), []],
  ])("finds %j literally, in upper or lower case", async (search, names) => {
    expect(await found(search)).toEqual(names);
  });

  test("finds an external id in decomposed Unicode form", async () => {
    const owner = aBusinessCaller();
    const { id } = await harness.openAccount(owner, { externalAccountId: "Cafe\u0301-1" });
    const { accounts } = await harness.accounts.listAccounts({ limit: 1, search: "caf\u00e9-1" }, { caller: owner });
    expect(accounts).toMatchObject([{ id, externalAccountId: "Cafe\u0301-1" }]);
  });

  test("finds an account by its complete or partial number, with or without spaces", async () => {
    const number = stored["plain"]?.accountNumber ?? "";
    expect(await found(number)).toEqual(["plain"]);
    expect(await found(`${number.slice(0, 3)} ${number.slice(3, 8)} ${number.slice(8, 18)} ${number.slice(18)}`)).toEqual([
      "plain",
    ]);
    expect(await found("00799999")).toHaveLength(5);
  });
});

test("listAccounts returns the same error for another business's client, an unknown id and a malformed id", async () => {
  const foreign = await harness.createPerson();
  for (const clientId of [uuidv7(), foreign.id, "no id"]) {
    expect(await refusal(list({ clientId }))).toMatchObject({ kind: "not_found", code: "client_not_found", pointer: "" });
  }
});

test("listAccounts rejects an operator's key", async () => {
  const refused = { code: "business_key_required" };
  expect(await refusal(harness.accounts.listAccounts({ limit: 1 }, { caller: adminCaller }))).toMatchObject(refused);
});
