import { ClientStanding } from "@amana/contracts/clients/v1/client_service_pb";
import { platformCaller } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, adminCaller } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

const standingOf = async (
  businessId: string,
  clientId: string,
  caller: Parameters<Harness["createPerson"]>[0] = platformCaller,
) => (await harness.clients.getClientStanding({ businessId, clientId }, { caller })).standing;

test("getClientStanding returns BLOCKED for a blocked client, and GOOD for any other client, including a blacklisted client", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.createPerson(caller, { isBlacklisted: true });
  expect(await standingOf(caller.businessId, id)).toBe(ClientStanding.GOOD);
  await harness.clients.updatePerson({ id, blocked: true }, { caller });
  expect(await standingOf(caller.businessId, id)).toBe(ClientStanding.BLOCKED);
  await harness.clients.updatePerson({ id, blocked: false }, { caller });
  expect(await standingOf(caller.businessId, id, caller)).toBe(ClientStanding.GOOD);
});

test("getClientStanding returns UNKNOWN for another business's client, an unknown id and a malformed id", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.createPerson(caller, { blocked: true });
  for (const [businessId, clientId] of [
    [uuidv7(), id],
    [caller.businessId, uuidv7()],
    [caller.businessId, "no id"],
    ["no id", id],
  ] as const) {
    expect(await standingOf(businessId, clientId)).toBe(ClientStanding.UNKNOWN);
  }
});

test("getClientStanding returns UNKNOWN if the caller is another business, and rejects an operator's key", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.createPerson(caller, { blocked: true });
  expect(await standingOf(caller.businessId, id, aBusinessCaller())).toBe(ClientStanding.UNKNOWN);
  await expect(standingOf(caller.businessId, id, adminCaller)).rejects.toMatchObject({ code: "business_key_required" });
});
