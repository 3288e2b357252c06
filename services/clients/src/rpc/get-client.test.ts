import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, refusal } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

test("getClient returns the same fields as the response of createPerson", async () => {
  const caller = aBusinessCaller();
  const createdClient = await harness.createPerson(caller, { middleName: "Lila", kycNote: "x" });
  expect(await harness.clients.getClient({ id: createdClient.id }, { caller })).toEqual(createdClient);
});

test("getClient throws the same error not_found for another business's client, an unknown id and a malformed id", async () => {
  const { id } = await harness.createPerson();
  const readError = (requestedId: string) =>
    refusal(harness.clients.getClient({ id: requestedId }, { caller: aBusinessCaller() }));
  const unknownIdError = await readError(uuidv7());
  expect(unknownIdError).toMatchObject({ kind: "not_found", code: "not_found" });
  for (const requestedId of [id, "no id", ""]) expect(await readError(requestedId)).toEqual(unknownIdError);
});

test("getClient rejects an operator's key", async () => {
  const { id } = await harness.createPerson();
  expect(await refusal(harness.clients.getClient({ id }, { caller: adminCaller }))).toMatchObject({
    code: "business_key_required",
  });
});
