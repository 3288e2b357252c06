import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asAdmin, type Identity, startIdentityForTest } from "../../test/harness.ts";

let identity: Identity;
beforeAll(async () => {
  identity = await startIdentityForTest();
});
afterAll(() => identity[Symbol.asyncDispose]());

test("getOwnBusiness returns the business of the caller", async () => {
  const firstBusiness = await identity.aBusiness({ name: "First" });
  const secondBusiness = await identity.aBusiness({ name: "Second" });
  const firstResponse = await identity.businesses.getOwnBusiness({}, { caller: aBusinessCaller(firstBusiness.id) });
  expect(firstResponse).toEqual({ ...firstBusiness, apiKey: undefined });
  const secondResponse = await identity.businesses.getOwnBusiness({}, { caller: aBusinessCaller(secondBusiness.id) });
  expect(secondResponse.name).toBe("Second");
});

test("getOwnBusiness rejects an operator key", async () => {
  await expect(identity.businesses.getOwnBusiness({}, asAdmin)).rejects.toMatchObject({ code: "business_key_required" });
});

test("getOwnBusiness returns not_found for an unknown business", async () => {
  const call = identity.businesses.getOwnBusiness({}, { caller: aBusinessCaller() });
  await expect(call).rejects.toMatchObject({ kind: "not_found" });
});
