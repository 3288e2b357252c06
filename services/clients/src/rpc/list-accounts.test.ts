import { type Account, AccountStatus, AccountType } from "@amana/contracts/clients/v1/account_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, refusal } from "@amana/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
const caller = aBusinessCaller();
let storedAccounts: Record<string, Account>;

beforeAll(async () => {
  harness = await startHarness();
  const { id: clientId } = await harness.createPerson(caller);
  const openAccount = async (hour: number, changes: object) => {
    harness.clock.nowMs = Date.UTC(2026, 2, 1, hour);
    return await harness.openAccount(caller, { clientId, ...changes });
  };
  const openActiveAccount = async (hour: number, changes: object) => {
    harness.clock.nowMs = Date.UTC(2026, 2, 1, hour);
    return await harness.anActiveAccount(caller, changes);
  };
  storedAccounts = {
    plain: await openAccount(1, { accountName: "Household" }),
    twin: await openAccount(1, { accountName: "household savings", type: AccountType.SAVINGS }),
    percent: await openAccount(2, { accountName: "100% Laine_Soie \\ Fils", externalAccountId: "Ext-1", currency: "EUR" }),
    arabic: await openAccount(3, { accountName: "حساب التوفير" }),
    active: await openActiveAccount(4, { accountName: 'L\'"autre"' }),
  };
  await harness.openAccount(aBusinessCaller(), { accountName: "Household" });
});
afterAll(() => harness[Symbol.asyncDispose]());

const list = async (filter: object = {}, listCaller = caller) => {
  const { accounts, total } = await harness.accounts.listAccounts({ limit: 50, ...filter }, { caller: listCaller });
  const nameOf = (id: string) => Object.keys(storedAccounts).find((name) => storedAccounts[name]?.id === id) ?? "unknown";
  return { names: accounts.map(({ id }) => nameOf(id)), total };
};
const searchNames = async (search: string) => (await list({ search })).names.sort();

describe("listAccounts", () => {
  test("listAccounts returns pages in descending order of creation time and id, and the total of all pages", async () => {
    const twins = ["plain", "twin"].sort((a, b) => ((storedAccounts[a]?.id ?? "") > (storedAccounts[b]?.id ?? "") ? -1 : 1));
    expect(await list()).toEqual({ names: ["active", "arabic", "percent", ...twins], total: 5 });
    expect(await list({ limit: 2, offset: 1 })).toEqual({ names: ["arabic", "percent"], total: 5 });
    expect(await list({ limit: 2, offset: 5 })).toEqual({ names: [], total: 5 });
  });

  test("listAccounts returns each account with the same fields as getAccount", async () => {
    const { accounts } = await harness.accounts.listAccounts({ limit: 1, search: "100%" }, { caller });
    expect(accounts).toEqual([storedAccounts["percent"]]);
  });

  test("listAccounts filters by client, type, status and currency, and by type and currency together", async () => {
    expect((await list({ clientId: storedAccounts["active"]?.clientId })).names).toEqual(["active"]);
    expect((await list({ type: AccountType.SAVINGS })).names).toEqual(["twin"]);
    expect((await list({ status: AccountStatus.ACTIVE })).names).toEqual(["active"]);
    expect((await list({ status: AccountStatus.PENDING })).total).toBe(4);
    expect((await list({ currency: "EUR" })).names).toEqual(["percent"]);
    expect((await list({ currency: "XXX" })).total).toBe(0);
    expect((await list({ type: AccountType.SAVINGS, currency: "EUR" })).total).toBe(0);
  });

  test("listAccounts returns no accounts of another business", async () => {
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
  ])("listAccounts searches for %j literally and without regard to case", async (search, names) => {
    expect(await searchNames(search)).toEqual(names);
  });

  test("listAccounts finds an external id in decomposed Unicode form if the search text is in composed form", async () => {
    const otherCaller = aBusinessCaller();
    const { id } = await harness.openAccount(otherCaller, { externalAccountId: "Cafe\u0301-1" });
    const { accounts } = await harness.accounts.listAccounts({ limit: 1, search: "caf\u00e9-1" }, { caller: otherCaller });
    expect(accounts).toMatchObject([{ id, externalAccountId: "Cafe\u0301-1" }]);
  });

  test("listAccounts finds an account by its complete or partial number, with or without spaces", async () => {
    const number = storedAccounts["plain"]?.accountNumber ?? "";
    expect(await searchNames(number)).toEqual(["plain"]);
    expect(await searchNames(`${number.slice(0, 3)} ${number.slice(3, 8)} ${number.slice(8, 18)} ${number.slice(18)}`)).toEqual([
      "plain",
    ]);
    expect(await searchNames("00799999")).toHaveLength(5);
  });
});

test("listAccounts throws the same error client_not_found for another business's client, an unknown id and a malformed id", async () => {
  const foreignClient = await harness.createPerson();
  for (const clientId of [uuidv7(), foreignClient.id, "no id"]) {
    expect(await refusal(list({ clientId }))).toMatchObject({ kind: "not_found", code: "client_not_found", pointer: "" });
  }
});

test("listAccounts rejects an operator's key", async () => {
  const expectedError = { code: "business_key_required" };
  expect(await refusal(harness.accounts.listAccounts({ limit: 1 }, { caller: adminCaller }))).toMatchObject(expectedError);
});
