import { type Beneficiary, BeneficiaryType } from "@amana/contracts/clients/v1/beneficiary_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, refusal } from "@amana/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
const caller = aBusinessCaller();
let storedBeneficiaries: Record<string, Beneficiary>;

beforeAll(async () => {
  harness = await startHarness();
  const { id: clientId } = await harness.createPerson(caller);
  const createBeneficiary = async (hour: number, changes: object) => {
    harness.clock.nowMs = Date.UTC(2026, 2, 1, hour);
    return await harness.createBeneficiary(caller, { clientId, ...changes });
  };
  storedBeneficiaries = {
    plain: await createBeneficiary(1, { name: "Karim Haddad", countryCode: "DZA" }),
    twin: await createBeneficiary(1, { name: "karim benali", iban: "GB29NWBK60161331926819", countryCode: "GBR" }),
    percent: await createBeneficiary(2, { name: "100% Laine_Soie \\ Fils", iban: undefined, accountNumber: "ABC123xyz" }),
    company: await createBeneficiary(3, { name: 'L\'Étoile "du" Sud', type: BeneficiaryType.COMPANY, display: false }),
    arabic: await createBeneficiary(4, { name: "شركة النور", iban: "DE89370400440532013000" }),
    other: await harness.createBeneficiary(caller, { name: "Of another client" }),
  };
  await harness.createBeneficiary(aBusinessCaller(), { name: "Karim Foreign" });
});
afterAll(() => harness[Symbol.asyncDispose]());

/**
 * Lists beneficiaries. Returns the total, and for each listed beneficiary its name in
 * `storedBeneficiaries`.
 */
const list = async (filter: object = {}, listCaller = caller) => {
  const { beneficiaries, total } = await harness.beneficiaries.listBeneficiaries(
    { limit: 50, ...filter },
    { caller: listCaller },
  );
  const nameOf = (id: string) =>
    Object.keys(storedBeneficiaries).find((name) => storedBeneficiaries[name]?.id === id) ?? "unknown";
  return { names: beneficiaries.map(({ id }) => nameOf(id)), total };
};
const searchNames = async (search: string) => (await list({ search })).names.sort();
const twinNames = () =>
  ["plain", "twin"].sort((a, b) => ((storedBeneficiaries[a]?.id ?? "") > (storedBeneficiaries[b]?.id ?? "") ? -1 : 1));

describe("listBeneficiaries", () => {
  test("listBeneficiaries returns pages in descending order of creation time and id, and the total of all pages", async () => {
    const allNames = (await list()).names;
    expect(allNames.slice(-3)).toEqual(["percent", ...twinNames()]);
    expect((await list({ limit: 2 })).names).toEqual(allNames.slice(0, 2));
    expect(await list({ limit: 2, offset: 3 })).toEqual({ names: allNames.slice(3, 5), total: 6 });
    expect(await list({ limit: 2, offset: 6 })).toEqual({ names: [], total: 6 });
    expect(await list({ limit: 2, offset: 2_147_483_647 })).toEqual({ names: [], total: 6 });
  });

  test("listBeneficiaries returns each beneficiary with the same fields as getBeneficiary", async () => {
    const { beneficiaries } = await harness.beneficiaries.listBeneficiaries({ limit: 1, search: "100%" }, { caller });
    expect(beneficiaries).toEqual([storedBeneficiaries["percent"]]);
    expect(await harness.beneficiaries.getBeneficiary({ id: storedBeneficiaries["percent"]?.id ?? "" }, { caller })).toEqual(
      storedBeneficiaries["percent"],
    );
  });

  test("listBeneficiaries filters by client, type, country and display, and by combinations of these filters", async () => {
    expect((await list({ clientId: storedBeneficiaries["other"]?.clientId })).names).toEqual(["other"]);
    expect((await list({ type: BeneficiaryType.COMPANY })).names).toEqual(["company"]);
    expect((await list({ countryCode: "GBR" })).names).toEqual(["twin"]);
    expect((await list({ display: false })).names).toEqual(["company"]);
    expect((await list({ display: true })).total).toBe(5);
    expect((await list({ display: true, type: BeneficiaryType.COMPANY })).total).toBe(0);
    expect((await list({ countryCode: "DZA", search: "karim" })).names).toEqual(["plain"]);
  });

  test("listBeneficiaries also returns hidden beneficiaries if the request has no filter", async () => {
    expect((await list()).names).toContain("company");
  });

  test("listBeneficiaries returns no beneficiaries of another business", async () => {
    expect(await list({}, aBusinessCaller())).toEqual({ names: [], total: 0 });
    expect(await list({ search: "karim" }, aBusinessCaller())).toEqual({ names: [], total: 0 });
  });
});

describe("listBeneficiaries, search", () => {
  test.each([
    ["karim", ["plain", "twin"]],
    ["KARIM", ["plain", "twin"]],
    ["im ha", ["plain"]],
    ["étoile", ["company"]],
    ["ÉTOILE", ["company"]],
    ["النور", ["arabic"]],
    ["abc123", ["percent"]],
    ["XYZ", ["percent"]],
    ["gb29 nwbk 6016", ["twin"]],
    ["nwbk60161331", ["twin"]],
    ["8937 0400", ["arabic"]],
    ["  0440 ", ["arabic"]],
    ["of another", ["other"]],
  ])("listBeneficiaries searches for %j in name, IBAN and account number, without regard to case", async (search, names) => {
    expect(await searchNames(search)).toEqual(names);
  });

  test.each([
    ["%", ["percent"]],
    ["_", ["percent"]],
    ["\\", ["percent"]],
    ["100%", ["percent"]],
    ["e_s", ["percent"]],
    ["%karim%", []],
    ["k_rim", []],
    ["\\%", []],
    ['"', ["company"]],
    ["'", ["company"]],
    ["' or ''='", []],
    ["'; drop table beneficiary; --", []],
    [".*", []],
    ["$1", []],
    ["?", []],
  ])("listBeneficiaries searches for %j literally", async (search, names) => {
    expect(await searchNames(search)).toEqual(names);
  });

  test("listBeneficiaries with a search text of spaces finds only names that contain these spaces", async () => {
    expect(await searchNames("   ")).toEqual([]);
    expect(await searchNames(" ")).toEqual(["arabic", "company", "other", "percent", "plain", "twin"]);
  });

  test("listBeneficiaries returns no result for a search of ten thousand characters", async () => {
    expect(await searchNames("a".repeat(10_240))).toEqual([]);
  });
});

test("listBeneficiaries throws the same error client_not_found for another business's client, an unknown id and a malformed id", async () => {
  const foreignClient = await harness.createPerson();
  for (const clientId of [uuidv7(), foreignClient.id, "no id"]) {
    expect(await refusal(list({ clientId }))).toMatchObject({ kind: "not_found", code: "client_not_found", pointer: "" });
  }
});

test("getBeneficiary throws the same error not_found for another business's beneficiary, an unknown id and a malformed id", async () => {
  const readError = (id: string) => refusal(harness.beneficiaries.getBeneficiary({ id }, { caller: aBusinessCaller() }));
  for (const id of [storedBeneficiaries["plain"]?.id ?? "", uuidv7(), "no id", ""]) {
    expect(await readError(id)).toMatchObject({
      kind: "not_found",
      code: "not_found",
      message: "There is no beneficiary with this id. Check the id.",
    });
  }
});

test("listBeneficiaries and getBeneficiary reject an operator's key", async () => {
  const expectedError = { code: "business_key_required" };
  expect(await refusal(harness.beneficiaries.listBeneficiaries({ limit: 1 }, { caller: adminCaller }))).toMatchObject(
    expectedError,
  );
  expect(await refusal(harness.beneficiaries.getBeneficiary({ id: uuidv7() }, { caller: adminCaller }))).toMatchObject(
    expectedError,
  );
});
