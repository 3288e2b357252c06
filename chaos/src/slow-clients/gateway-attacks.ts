import { malformedShapes } from "./shapes.ts";
import { headOf, type SlowClient, type Target, withClients } from "./slow-client.ts";

export interface AttackedGateway {
  readonly port: number;
  /** The API key of a business that misbehaves. */
  readonly key: string;
  /** Reads one of the gateway's metrics. */
  metric(series: string): Promise<number>;
  check(claim: string, holds: boolean, details: () => string): void;
}

/** Much longer than any time limit of the gateway, also on a busy machine. */
const waitMsMax = 60_000;
const connectionsPerNetworkMax = 256;
const megabyte = 1_000_000;

type Attack = (gateway: AttackedGateway) => Promise<void>;

const json = (key: string) => ({ "content-type": "application/json", authorization: `Bearer ${key}` });
const clientsPath = "/api/v1/clients/person";
const callbackPath = "/callbacks/kyc";
const get = (path: string, headers = "") => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`;
const endedBecause = (reason: string) => `amana_http_connections_ended_total{reason="${reason}"}`;
const isRefusal = ({ status }: { status: number }) => status === 429 || status === 503;
const hasOutcome = ({ responses, isClosed }: SlowClient) => responses.length > 0 || isClosed;
const statusesOf = (clients: readonly SlowClient[]) => () =>
  clients
    .map(({ responses, isClosed }) => `${responses.map(({ status }) => status).join("+") || "none"}${isClosed ? "" : " (open)"}`)
    .join(", ");

/** Each attack uses its own client network. */
const from = (port: number, host: number): Target => ({ port, from: `127.0.0.${host}` });

const tinyChunks: Attack = async ({ port, key, check }) => {
  const attack = async (path: string, headers: Record<string, string>) => {
    const { clients } = await withClients(6, from(port, 2), async (client) => {
      await client.send(headOf(path, headers));
      await client.sendTinyChunks(250_000);
      await client.outcome(waitMsMax);
    });
    // A 408 would mean that the gateway accepted all chunks.
    const isRefused = ({ responses: [first], isClosed }: SlowClient) =>
      first ? first.status === 413 || isRefusal(first) : isClosed;
    check("bodies of tiny chunks are refused", clients.every(isRefused), statusesOf(clients));
  };
  await Promise.all([attack(callbackPath, {}), attack(clientsPath, json(key))]);
};

/** Sends fewer chunks than the gateway accepts, to use memory for each chunk. */
const tinyChunksWithheld: Attack = async ({ port, check }) => {
  const { clients } = await withClients(200, from(port, 10), async (client) => {
    await client.send(headOf(callbackPath, {}));
    await client.sendTinyChunks(9_500);
    await client.outcome(waitMsMax);
  });
  check("bodies that do not end are ended", clients.every(hasOutcome), statusesOf(clients));
};

const withheldBytes: Attack = async ({ port, key, check }) => {
  const attack = async (path: string, headers: Record<string, string>, length: number) => {
    const { clients } = await withClients(40, from(port, 3), async (client) => {
      await client.send(headOf(path, headers, length));
      await client.send(Buffer.alloc(length - 1, " "));
      await client.outcome(waitMsMax);
    });
    const refusals = clients.flatMap(({ responses }) => responses.filter(isRefusal));
    check("bodies beyond the bound of a caller are refused", refusals.length > 0, statusesOf(clients));
    const haveRetryAfter = refusals.every(({ hasRetryAfter }) => hasRetryAfter);
    check("refusals carry Retry-After", haveRetryAfter, statusesOf(clients));
    check("bodies that do not end are ended", clients.every(hasOutcome), statusesOf(clients));
  };
  await Promise.all([attack(callbackPath, {}, 250_000), attack(clientsPath, json(key), megabyte)]);
};

const unreadResponses: Attack = async ({ port, metric, check }) => {
  const requests = get("/docs/reference.js").repeat(4);
  const stalledBefore = await metric(endedBecause("stalled"));
  // With more requests some would get a refusal, which fits into the operating system's buffers.
  const { clients, results } = await withClients(
    60,
    from(port, 4),
    async (client) => {
      await client.send(requests);
      return await client.drip("\r\n", waitMsMax);
    },
    { reads: false },
  );
  check("connections with unread responses are ended", results.every(Boolean), statusesOf(clients));
  const stalled = (await metric(endedBecause("stalled"))) - stalledBefore;
  check("ended connections are counted as stalled", stalled === clients.length, () => `${stalled} of ${clients.length}`);
};

const slowHeaders: Attack = async ({ port, check }) => {
  const { clients, results } = await withClients(60, from(port, 5), async (client) => {
    await client.send("GET /api/v1/me HTTP/1.1\r\nx: ");
    return await client.drip("x", waitMsMax);
  });
  check("connections with slow headers are ended", results.every(Boolean), statusesOf(clients));
};

const malformedJson: Attack = async ({ port, key, check }) => {
  for (const shape of malformedShapes(megabyte)) {
    const body = Buffer.from(shape);
    const { clients } = await withClients(1, from(port, 6), async (client) => {
      await client.send(headOf(clientsPath, json(key), body.length));
      await client.send(body);
      await client.outcome(waitMsMax);
    });
    const statuses = clients.flatMap(({ responses }) => responses.map(({ status }) => status));
    const isRejected = statuses.length === 1 && [400, 413, 422].includes(statuses[0] ?? 0);
    check("malformed JSON is rejected", isRejected, () => `${JSON.stringify(shape.slice(0, 40))}: ${statusesOf(clients)()}`);
    // A gateway that parses one shape for minutes does not respond to the others.
    if (!isRejected) return;
  }
};

const pipelining: Attack = async ({ port, key, metric, check }) => {
  const requests = get("/api/v1/clients?limit=100", `authorization: Bearer ${key}\r\n`).repeat(500);
  const pipelinedBefore = await metric(endedBecause("pipelined"));
  const { clients, results } = await withClients(
    8,
    from(port, 7),
    async (client) => {
      await client.send(requests);
      return await client.drip("\r\n", waitMsMax);
    },
    { reads: false },
  );
  check("connections with too many pipelined requests are ended", results.every(Boolean), statusesOf(clients));
  const pipelined = (await metric(endedBecause("pipelined"))) - pipelinedBefore;
  check("ended connections are counted as pipelined", pipelined === clients.length, () => `${pipelined} of ${clients.length}`);
};

const halfClosed: Attack = async ({ port, key, check }) => {
  const whole = get("/api/v1/me", `authorization: Bearer ${key}\r\n`);
  const partial = `${headOf(clientsPath, json(key), 1_000)}{`;
  for (const request of [whole, partial]) {
    const { clients, results } = await withClients(40, from(port, 8), async (client) => {
      await client.send(request);
      client.endSending();
      return await client.closed(waitMsMax);
    });
    check("half-closed connections are ended", results.every(Boolean), statusesOf(clients));
  }
};

const manyConnections: Attack = async ({ port, check }) => {
  // A connection with a response stays open, so that no other takes its place.
  const { clients } = await withClients(400, from(port, 9), async (client) => {
    await client.send(get("/healthz"));
    await client.outcome(waitMsMax);
  });
  const served = clients.filter(({ responses }) => responses.length > 0).length;
  check(
    "connections of one network are bounded",
    served > 0 && served <= connectionsPerNetworkMax,
    () => `${served} of ${clients.length} got a response`,
  );
};

export const gatewayAttacks: Readonly<Record<string, Attack>> = {
  "tiny chunks": tinyChunks,
  "tiny chunks withheld": tinyChunksWithheld,
  "withheld bytes": withheldBytes,
  "unread responses": unreadResponses,
  "slow headers": slowHeaders,
  "malformed JSON": malformedJson,
  pipelining,
  "half-closed connections": halfClosed,
  "many connections": manyConnections,
};
