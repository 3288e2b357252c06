import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asAdmin, type Identity, startIdentityForTest } from "../../test/harness.ts";

const names = ["Oasis", "100% Dates", "10_000 Camels", "back\\slash", "École d'Alger", "oasis two"];

let identity: Identity;
beforeAll(async () => {
  identity = await startIdentityForTest();
  for (const name of names) await identity.aBusiness({ name });
  await identity.businesses.createBusiness({ name: "Waiting", status: BusinessStatus.PENDING }, asAdmin);
});
afterAll(() => identity[Symbol.asyncDispose]());

async function list(request: { limit?: number; offset?: number; status?: BusinessStatus; search?: string }) {
  const { businesses, total } = await identity.businesses.listBusinesses({ limit: 50, ...request }, asAdmin);
  return { names: businesses.map(({ name }) => name), total };
}

test("listBusinesses returns all businesses, newest first, with the total", async () => {
  expect(await list({})).toEqual({ names: ["Waiting", ...names.toReversed()], total: 7 });
});

test("listBusinesses returns the number of all businesses as `total` with each page, even with an empty page after the last page", async () => {
  expect(await list({ limit: 2, offset: 1 })).toEqual({ names: ["oasis two", "École d'Alger"], total: 7 });
  expect(await list({ offset: 100 })).toEqual({ names: [], total: 7 });
});

test("listBusinesses filters by status", async () => {
  expect(await list({ status: BusinessStatus.PENDING })).toEqual({ names: ["Waiting"], total: 1 });
  expect((await list({ status: BusinessStatus.ACTIVE })).total).toBe(6);
});

test.each([
  ["OASIS", ["oasis two", "Oasis"]],
  ["école", ["École d'Alger"]],
  ["%", ["100% Dates"]],
  ["0_0", ["10_000 Camels"]],
  ["\\", ["back\\slash"]],
  ["1%s", []],
])("listBusinesses searches for %j literally and ignores case", async (search, matches) => {
  expect(await list({ search })).toEqual({ names: matches, total: matches.length });
});

test("listBusinesses returns the key prefix of each business, and no secret keys", async () => {
  const { businesses } = await identity.businesses.listBusinesses({ limit: 50 }, asAdmin);
  for (const business of businesses) {
    expect(business.apiKey).toBeUndefined();
    expect(business.apiKeyPrefix).toMatch(/^sk_test_.{8}$/);
  }
});

test("listBusinesses ignores case in a search even if the name contains a capital letter that has several lower-case forms", async () => {
  await identity.aBusiness({ name: "ΟΔΟΣ" });
  expect((await list({ search: "ΟΔΟΣ" })).names).toEqual(["ΟΔΟΣ"]);
});

test("listBusinesses rejects a business as the caller", async () => {
  const call = identity.businesses.listBusinesses({ limit: 50 }, { caller: aBusinessCaller() });
  await expect(call).rejects.toMatchObject({ code: "admin_required" });
});
