import { ClientService, ClientStanding } from "@amana/contracts/clients/v1/client_service_pb";
import { type Call, type Implementations, serve } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { startTestServer, testSigner } from "@amana/testing";
import { afterEach, expect, test } from "vitest";
import { createClients } from "./clients.ts";

const stack: AsyncDisposable[] = [];
afterEach(async () => {
  for (const resource of stack.splice(0).reverse()) await resource[Symbol.asyncDispose]();
});

const [businessId, clientId] = [uuidv7(), uuidv7()];

/** Starts a clients service that returns `standing` for each request and records the requests. */
async function startClients(standing: ClientStanding) {
  const requests: unknown[] = [];
  const respond = async (request: { businessId: string; clientId: string }, { caller }: Call) => {
    requests.push([request.businessId, request.clientId, caller.role]);
    return { standing };
  };
  // `serve` requires all RPCs of a service.
  const rpcs = Object.fromEntries(ClientService.methods.map(({ localName }) => [localName, respond]));
  const server = await startTestServer(
    [serve(ClientService, rpcs as unknown as Implementations<typeof ClientService>)],
    "clients",
  );
  const clients = createClients({ urls: [server.url], signer: testSigner });
  stack.push(server, clients);
  return { clients, requests };
}

test.each([
  [ClientStanding.UNKNOWN, "UNKNOWN"],
  [ClientStanding.BLOCKED, "BLOCKED"],
  [ClientStanding.GOOD, "GOOD"],
])(
  "Clients.readStanding calls the clients service as the platform, and converts the standing with the enum number %i to %s",
  async (standing, name) => {
    const { clients, requests } = await startClients(standing);
    expect(await clients.readStanding(businessId, clientId)).toBe(name);
    expect(requests).toEqual([[businessId, clientId, "platform"]]);
  },
);

test("Clients.readStanding throws an error for the standing UNSPECIFIED", async () => {
  const { clients } = await startClients(ClientStanding.UNSPECIFIED);
  await expect(clients.readStanding(businessId, clientId)).rejects.toThrow("standing 0");
});

test("Clients.readStanding throws service_unavailable while the clients service is not reachable", async () => {
  await using clients = createClients({ urls: ["http://127.0.0.1:1"], signer: testSigner });
  await expect(clients.readStanding(businessId, clientId)).rejects.toMatchObject({
    kind: "unavailable",
    code: "service_unavailable",
  });
});
