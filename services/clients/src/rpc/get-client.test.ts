import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller, refusal } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

test("a client is read as it was created", async () => {
  const caller = aBusinessCaller();
  const created = await harness.createPerson(caller, { middleName: "Lila", kycNote: "x" });
  expect(await harness.clients.getClient({ id: created.id }, { caller })).toEqual(created);
});

test("another business's client, an unknown id and a malformed one are refused alike", async () => {
  const { id } = await harness.createPerson();
  const read = (asked: string) => refusal(harness.clients.getClient({ id: asked }, { caller: aBusinessCaller() }));
  const unknown = await read(uuidv7());
  expect(unknown).toMatchObject({ kind: "not_found", code: "not_found" });
  for (const asked of [id, "nonsense", ""]) expect(await read(asked)).toEqual(unknown);
});

test("an operator's key reads no client", async () => {
  const { id } = await harness.createPerson();
  expect(await refusal(harness.clients.getClient({ id }, { caller: adminCaller }))).toMatchObject({
    code: "business_key_required",
  });
});
