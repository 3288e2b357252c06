import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import { sleep, uuidv7 } from "@amana/runtime";
import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asAdmin, asPlatform, type Identity, startIdentityForTest } from "../../test/harness.ts";

let identity: Identity;
beforeAll(async () => {
  identity = await startIdentityForTest({ leaseMs: 300, wait: sleep });
});
afterAll(() => identity[Symbol.asyncDispose]());

const resolve = (businessId: string) => identity.keyLeases.resolveBusiness({ businessId }, asPlatform);

test("resolveBusiness returns the current name and status of a business, and the duration of the lease", async () => {
  const { id } = await identity.aBusiness({ name: "متجر الأمل" });
  expect(await resolve(id)).toMatchObject({ name: "متجر الأمل", status: BusinessStatus.ACTIVE, leaseMs: 300 });
  await identity.businesses.updateBusiness({ id, name: "Épicerie", status: BusinessStatus.DISABLED }, asAdmin);
  expect(await resolve(id)).toMatchObject({ name: "Épicerie", status: BusinessStatus.DISABLED });
});

test.each([
  ["an unknown id", uuidv7()],
  ["a text that is not a UUID", "x"],
  ["an empty text", ""],
])("resolveBusiness returns an empty name and the status UNSPECIFIED for %s", async (_name, id) => {
  expect(await resolve(id)).toMatchObject({ name: "", status: BusinessStatus.UNSPECIFIED, leaseMs: 300 });
});

test("resolveBusiness rejects callers other than the platform", async () => {
  for (const options of [asAdmin, { caller: aBusinessCaller() }]) {
    const call = identity.keyLeases.resolveBusiness({ businessId: uuidv7() }, options);
    await expect(call).rejects.toMatchObject({ kind: "forbidden", code: "platform_required" });
  }
});
