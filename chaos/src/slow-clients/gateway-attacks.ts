import { createMalformedBodies } from "./malformed-bodies.ts";
import { formatHead, type SlowClient, type Target, withClients } from "./slow-client.ts";

export interface AttackedGateway {
  readonly port: number;
  /** API key of the attacking business. */
  readonly key: string;
  /** Path of the page of a payment link. */
  readonly payPath: string;
  /** Returns the value of one of the gateway's metrics. */
  readMetric(series: string): Promise<number>;
  check(claim: string, holds: boolean, details: () => string): void;
}

/** Maximum wait. Even on a busy machine, it is much longer than any time limit of the gateway. */
const waitMsMax = 60_000;
const connectionsPerNetworkMax = 256;
const megabyte = 1_000_000;

type Attack = (gateway: AttackedGateway) => Promise<void>;

const jsonHeaders = (key: string) => ({ "content-type": "application/json", authorization: `Bearer ${key}` });
const clientsPath = "/api/v1/clients/person";
const callbackPath = "/callbacks/kyc";
const formatGet = (path: string, headers = "") => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`;
const formatPost = (path: string) => `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n`;
const connectRequest = "CONNECT localhost:1 HTTP/1.1\r\nhost: localhost\r\n\r\n";
/** Path for which the gateway responds to a POST with an error page of some kilobytes. */
const pagePath = "/receipts/x/email";
const endedSeries = (reason: string) => `amana_http_connections_ended_total{reason="${reason}"}`;
const isRejection = ({ status }: { status: number }) => status === 429 || status === 503;
const isFinished = ({ responses, isClosed }: SlowClient) => responses.length > 0 || isClosed;
const statusesOf = (clients: readonly SlowClient[]) => () =>
  clients
    .map(({ responses, isClosed }) => `${responses.map(({ status }) => status).join("+") || "none"}${isClosed ? "" : " (open)"}`)
    .join(", ");

/** Returns a target for clients at address 127.0.0.`host`. Each attack uses another address. */
const targetFrom = (port: number, host: number): Target => ({ port, localAddress: `127.0.0.${host}` });

/**
 * Connects clients that send `requests`, read no response, and wait until the gateway has closed
 * the connection. The results are false for connections that the gateway left open.
 */
const sendWithoutReading = (count: number, target: Target, requests: string) =>
  withClients(
    count,
    target,
    async (client) => {
      await client.send(requests);
      return await client.sendUntilClosed("\r\n", waitMsMax);
    },
    { reads: false },
  );

const tinyChunks: Attack = async ({ port, key, check }) => {
  const attack = async (path: string, headers: Record<string, string>) => {
    const { clients } = await withClients(6, targetFrom(port, 2), async (client) => {
      await client.send(formatHead(path, headers));
      await client.sendTinyChunks(250_000);
      await client.waitForOutcome(waitMsMax);
    });
    // Status 408 would mean that the gateway accepted all chunks and waited for the body's end.
    const isRejected = ({ responses: [first], isClosed }: SlowClient) =>
      first ? first.status === 413 || isRejection(first) : isClosed;
    check("bodies of tiny chunks are rejected", clients.every(isRejected), statusesOf(clients));
  };
  await Promise.all([attack(callbackPath, {}), attack(clientsPath, jsonHeaders(key))]);
};

/** Sends fewer chunks than the gateway permits, so that the gateway stores each chunk in memory. */
const tinyChunksWithheld: Attack = async ({ port, check }) => {
  const { clients } = await withClients(200, targetFrom(port, 10), async (client) => {
    await client.send(formatHead(callbackPath, {}));
    await client.sendTinyChunks(9_500);
    await client.waitForOutcome(waitMsMax);
  });
  check("requests with unfinished bodies are ended", clients.every(isFinished), statusesOf(clients));
};

const withheldBytes: Attack = async ({ port, key, check }) => {
  const attack = async (path: string, headers: Record<string, string>, length: number) => {
    const { clients } = await withClients(40, targetFrom(port, 3), async (client) => {
      await client.send(formatHead(path, headers, length));
      await client.send(Buffer.alloc(length - 1, " "));
      await client.waitForOutcome(waitMsMax);
    });
    const rejections = clients.flatMap(({ responses }) => responses.filter(isRejection));
    check("bodies beyond the byte limit of a caller are rejected", rejections.length > 0, statusesOf(clients));
    const allHaveRetryAfter = rejections.every(({ hasRetryAfter }) => hasRetryAfter);
    check("each rejection has Retry-After", allHaveRetryAfter, statusesOf(clients));
    check("requests with unfinished bodies are ended", clients.every(isFinished), statusesOf(clients));
  };
  await Promise.all([attack(callbackPath, {}, 250_000), attack(clientsPath, jsonHeaders(key), megabyte)]);
};

const unreadResponses: Attack = async ({ port, readMetric, check }) => {
  const requests = formatGet("/docs/reference.js").repeat(4);
  const stalledBefore = await readMetric(endedSeries("stalled"));
  // Uses so few clients that the gateway rejects none of them. A rejection would fit into the
  // buffers of the operating system, so its connection would not stall.
  const { clients, results } = await sendWithoutReading(60, targetFrom(port, 4), requests);
  check("connections with unread responses are ended", results.every(Boolean), statusesOf(clients));
  const stalled = (await readMetric(endedSeries("stalled"))) - stalledBefore;
  check("ended connections are counted as stalled", stalled === clients.length, () => `${stalled} of ${clients.length}`);
};

const slowHeaders: Attack = async ({ port, check }) => {
  const { clients, results } = await withClients(60, targetFrom(port, 5), async (client) => {
    await client.send("GET /api/v1/me HTTP/1.1\r\nx: ");
    return await client.sendUntilClosed("x", waitMsMax);
  });
  check("connections with slow headers are ended", results.every(Boolean), statusesOf(clients));
};

const malformedJson: Attack = async ({ port, key, check }) => {
  for (const shape of createMalformedBodies(megabyte)) {
    const body = Buffer.from(shape);
    const { clients } = await withClients(1, targetFrom(port, 6), async (client) => {
      await client.send(formatHead(clientsPath, jsonHeaders(key), body.length));
      await client.send(body);
      await client.waitForOutcome(waitMsMax);
    });
    const statuses = clients.flatMap(({ responses }) => responses.map(({ status }) => status));
    const isRejected = statuses.length === 1 && [400, 413, 422].includes(statuses[0] ?? 0);
    check("malformed JSON is rejected", isRejected, () => `${JSON.stringify(shape.slice(0, 40))}: ${statusesOf(clients)()}`);
    // Stops at the first accepted shape, because a gateway that parses one shape for minutes does
    // not respond to the next shapes.
    if (!isRejected) return;
  }
};

/** Sends a payment link's form unfinished, too large, and in tiny chunks. */
const paymentForms: Attack = async ({ port, payPath, check }) => {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const sendForm = async (length: number, sent: number) => {
    const { clients } = await withClients(40, targetFrom(port, 11), async (client) => {
      await client.send(formatHead(payPath, headers, length));
      await client.send(Buffer.alloc(sent, "a"));
      await client.waitForOutcome(waitMsMax);
    });
    return clients;
  };
  const unfinished = await sendForm(60_000, 59_999);
  check("unfinished forms of payment links are ended", unfinished.every(isFinished), statusesOf(unfinished));
  const large = await sendForm(250_000, 250_000);
  const isRejected = ({ responses: [first], isClosed }: SlowClient) =>
    first ? first.status === 413 || isRejection(first) : isClosed;
  check("large forms of payment links are rejected", large.every(isRejected), statusesOf(large));
  const { clients } = await withClients(6, targetFrom(port, 11), async (client) => {
    await client.send(formatHead(payPath, headers));
    await client.sendTinyChunks(250_000);
    await client.waitForOutcome(waitMsMax);
  });
  check("forms of tiny chunks are rejected", clients.every(isRejected), statusesOf(clients));
};

const pipelining: Attack = async ({ port, key, readMetric, check }) => {
  const requests = formatGet("/api/v1/clients?limit=100", `authorization: Bearer ${key}\r\n`).repeat(500);
  const pipelinedBefore = await readMetric(endedSeries("pipelined"));
  const { clients, results } = await sendWithoutReading(8, targetFrom(port, 7), requests);
  check("connections with too many pipelined requests are ended", results.every(Boolean), statusesOf(clients));
  const pipelined = (await readMetric(endedSeries("pipelined"))) - pipelinedBefore;
  check("ended connections are counted as pipelined", pipelined === clients.length, () => `${pipelined} of ${clients.length}`);
};

/**
 * Requests files and error pages without reading them, and then sends a CONNECT, after which Node
 * does not close the pending responses. `slowClientsProgram` checks at its end that the gateway has
 * released their bytes.
 */
const connectAfterPipelining: Attack = async ({ port, check }) => {
  const requests = formatGet("/docs/reference.js").repeat(2) + formatPost(pagePath).repeat(5) + connectRequest;
  const { clients, results } = await sendWithoutReading(100, targetFrom(port, 12), requests);
  check("connections with a CONNECT are ended", results.every(Boolean), statusesOf(clients));
};

/**
 * Requests files without reading them, and then sends tiny chunks as the body of a request that
 * Fastify does not route.
 */
const unroutedTinyChunks: Attack = async ({ port, readMetric, check }) => {
  const endedBefore = await readMetric(endedSeries("chunks"));
  const heads = [formatHead("/%zz", {}), formatHead("/x", { expect: "other" })];
  const { clients, results } = await withClients(
    40,
    targetFrom(port, 13),
    async (client, i) => {
      await client.send(formatGet("/docs/reference.js").repeat(3) + heads[i % heads.length]);
      await client.sendTinyChunks(25_000);
      return await client.sendUntilClosed("1\r\n \r\n", waitMsMax);
    },
    { reads: false },
  );
  check("connections with tiny chunks of unrouted requests are ended", results.every(Boolean), statusesOf(clients));
  const ended = (await readMetric(endedSeries("chunks"))) - endedBefore;
  check("ended connections are counted under the reason chunks", ended === clients.length, () => `${ended} of ${clients.length}`);
};

/**
 * Sends requests that get error pages, and does not read the responses. The gateway must count the
 * bytes of the pages, and must keep them within the limit of their network.
 */
async function requestUnreadPages({ port, readMetric, check }: AttackedGateway, host: number, requests: string) {
  const { results } = await withClients(
    200,
    targetFrom(port, host),
    async (client) => {
      await client.send(requests);
      return await readMetric("amana_http_bytes_at_once");
    },
    { reads: false },
  );
  // The metric is NaN if the gateway did not respond in time.
  const bytesMax = Math.max(0, ...results.filter(Number.isFinite));
  const isLimited = bytesMax > 0 && bytesMax < 5 * megabyte;
  check("unread error pages count towards the byte limit of their network", isLimited, () => `${bytesMax} bytes`);
}

/** Requests error pages with POSTs after large files. */
const unreadPages: Attack = (gateway) =>
  requestUnreadPages(gateway, 14, formatGet("/docs/reference.js").repeat(2) + formatPost(pagePath).repeat(6));

/** Requests pages with long invalid paths after large files. */
const longInvalidPaths: Attack = (gateway) =>
  requestUnreadPages(
    gateway,
    15,
    formatGet("/docs/reference.js").repeat(2) + formatGet(`/pay/%zz${"&".repeat(8_000)}`).repeat(6),
  );

const halfClosed: Attack = async ({ port, key, check }) => {
  const completeRequest = formatGet("/api/v1/me", `authorization: Bearer ${key}\r\n`);
  const partialRequest = `${formatHead(clientsPath, jsonHeaders(key), 1_000)}{`;
  for (const request of [completeRequest, partialRequest]) {
    const { clients, results } = await withClients(40, targetFrom(port, 8), async (client) => {
      await client.send(request);
      client.endSending();
      return await client.waitForClose(waitMsMax);
    });
    check("half-closed connections are ended", results.every(Boolean), statusesOf(clients));
  }
};

const manyConnections: Attack = async ({ port, check }) => {
  // The clients keep their connections open after the response, so that each one occupies a slot.
  const { clients } = await withClients(400, targetFrom(port, 9), async (client) => {
    await client.send(formatGet("/healthz"));
    await client.waitForOutcome(waitMsMax);
  });
  const served = clients.filter(({ responses }) => responses.length > 0).length;
  check(
    "the connections of one network are limited",
    served > 0 && served <= connectionsPerNetworkMax,
    () => `${served} of ${clients.length} got a response`,
  );
};

/**
 * Sends requests without a key. The gateway responds to each of them at once, so no other limit
 * ends the connections. Requires a gateway with RATE_LIMIT_KEYLESS_PER_SECOND.
 */
export const flood: Attack = async ({ port, check }) => {
  const { clients, results } = await withClients(
    200,
    targetFrom(port, 16),
    async (client) => await client.sendUntilClosed(formatGet("/none"), waitMsMax),
  );
  check("the gateway closes all connections of a network that floods it", results.every(Boolean), statusesOf(clients));
};

export const gatewayAttacks: Readonly<Record<string, Attack>> = {
  "tiny chunks": tinyChunks,
  "tiny chunks withheld": tinyChunksWithheld,
  "withheld bytes": withheldBytes,
  "unread responses": unreadResponses,
  "slow headers": slowHeaders,
  "malformed JSON": malformedJson,
  "forms of payment links": paymentForms,
  pipelining,
  "CONNECT after pipelining": connectAfterPipelining,
  "tiny chunks of unrouted requests": unroutedTinyChunks,
  "unread pages": unreadPages,
  "long invalid paths": longInvalidPaths,
  "half-closed connections": halfClosed,
  "many connections": manyConnections,
};
