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

const ask = async (businessId: string, clientId: string, caller: Parameters<Harness["createPerson"]>[0] = platformCaller) =>
  (await harness.clients.getClientStanding({ businessId, clientId }, { caller })).standing;

test("a client is good until it is blocked, and again once it is not; being blacklisted blocks nothing", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.createPerson(caller, { isBlacklisted: true });
  expect(await ask(caller.businessId, id)).toBe(ClientStanding.GOOD);
  await harness.clients.updatePerson({ id, blocked: true }, { caller });
  expect(await ask(caller.businessId, id)).toBe(ClientStanding.BLOCKED);
  await harness.clients.updatePerson({ id, blocked: false }, { caller });
  expect(await ask(caller.businessId, id, caller)).toBe(ClientStanding.GOOD);
});

test("another business's client, an unknown id and a malformed one are unknown alike", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.createPerson(caller, { blocked: true });
  for (const [businessId, clientId] of [
    [uuidv7(), id],
    [caller.businessId, uuidv7()],
    [caller.businessId, "nonsense"],
    ["nonsense", id],
  ] as const) {
    expect(await ask(businessId, clientId)).toBe(ClientStanding.UNKNOWN);
  }
});

test("a business learns nothing of another's clients, and an operator's key asks nothing", async () => {
  const caller = aBusinessCaller();
  const { id } = await harness.createPerson(caller, { blocked: true });
  expect(await ask(caller.businessId, id, aBusinessCaller())).toBe(ClientStanding.UNKNOWN);
  await expect(ask(caller.businessId, id, adminCaller)).rejects.toMatchObject({ code: "business_key_required" });
});
