import { ClientService, ClientStanding } from "@amana/contracts/clients/v1/client_service_pb";
import { type Call, type Implementations, serve } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { startTestServer, testSigner } from "@amana/testing";
import { afterEach, expect, test } from "vitest";
import { createClients } from "./clients.ts";

const stack: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of stack.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

const [businessId, clientId] = [uuidv7(), uuidv7()];

/** Our side of the contract against a clients service of the test's own, over real RPC. */
async function answering(standing: ClientStanding) {
  const asked: unknown[] = [];
  const answer = async (request: { businessId: string; clientId: string }, { caller }: Call) => {
    asked.push([request.businessId, request.clientId, caller.role]);
    return { standing };
  };
  // The other RPCs are there, because a server serves all of a service or none.
  const all = Object.fromEntries(ClientService.methods.map(({ localName }) => [localName, answer]));
  const server = await startTestServer(
    [serve(ClientService, all as unknown as Implementations<typeof ClientService>)],
    "clients",
  );
  const clients = createClients({ urls: [server.url], signer: testSigner });
  stack.push(server, clients);
  return { clients, asked };
}

test.each([
  [ClientStanding.UNKNOWN, "UNKNOWN"],
  [ClientStanding.BLOCKED, "BLOCKED"],
  [ClientStanding.GOOD, "GOOD"],
])("the standing %i is %s, asked for by the platform", async (standing, name) => {
  const { clients, asked } = await answering(standing);
  expect(await clients.standing(businessId, clientId)).toBe(name);
  expect(asked).toEqual([[businessId, clientId, "platform"]]);
});

test("an answer that says nothing lets nobody through", async () => {
  const { clients } = await answering(ClientStanding.UNSPECIFIED);
  await expect(clients.standing(businessId, clientId)).rejects.toThrow("standing 0");
});

test("while the clients service is away, whoever asks is refused as unavailable", async () => {
  await using clients = createClients({ urls: ["http://127.0.0.1:1"], signer: testSigner });
  await expect(clients.standing(businessId, clientId)).rejects.toMatchObject({
    kind: "unavailable",
    code: "service_unavailable",
  });
});
