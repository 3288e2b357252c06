import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { eventually } from "@amana/testing";
import { describe, expect, test } from "vitest";
import { delayReads } from "../test/delay-reads.ts";
import { startTestGateway } from "../test/harness.ts";
import { headOf, inOneByteChunks, RawClient } from "../test/raw-client.ts";
import { totalKey } from "./bounded-counters.ts";
import { Connections } from "./connections.ts";

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

async function start(options: Parameters<typeof startTestGateway>[0] = {}) {
  const clock = { ms: 0 };
  const gateway = await startTestGateway({ nowMs: () => clock.ms, ...options });
  const accepted: Socket[] = [];
  gateway.app.server.on("connection", (socket) => accepted.push(socket));
  const port = Number(new URL(await gateway.app.listen({ host: "127.0.0.1", port: 0 })).port);
  /**
   * Advances the clock. Then runs the check for stalled connections, which a timer runs in
   * production.
   */
  const advanceMs = (ms: number) => {
    clock.ms += ms;
    gateway.connections.endStalled();
  };
  return { gateway, port, accepted, advanceMs };
}

const stallMs = 30_000;

describe("connections of a network", () => {
  test("Connections closes connections beyond a network's limit until an earlier connection closes, and accepts connections of other networks", async () => {
    const { gateway, port } = await start({ connectionBounds: { perNetwork: 2 } });
    await using _ = gateway;
    await using first = new RawClient(port);
    await first.write(get("/healthz"));
    await first.expectStatuses("200");
    await using second = new RawClient(port);
    await second.write(get("/healthz"));
    await second.expectStatuses("200");

    await using third = new RawClient(port);
    await third.waitUntilClosed();
    expect(third.statuses).toEqual([]);
    await using otherNetworkClient = new RawClient(port, { address: "127.0.0.2" });
    await otherNetworkClient.write(get("/healthz"));
    await otherNetworkClient.expectStatuses("200");

    await first[Symbol.asyncDispose]();
    await eventually(async () => {
      await using replacement = new RawClient(port);
      await replacement.write(get("/healthz"));
      await eventually(() => expect([replacement.isClosed, replacement.statuses.length]).not.toEqual([false, 0]));
      expect(replacement.statuses).toEqual(["200"]);
    });
  });

  test("Connections does not limit the connections of a trusted proxy", async () => {
    const { gateway, port } = await start({ connectionBounds: { perNetwork: 1 }, trustedProxies: ["127.0.0.1"] });
    await using _ = gateway;
    const clients = Array.from({ length: 3 }, () => new RawClient(port));
    for (const client of clients) {
      await client.write(get("/healthz"));
      await client.expectStatuses("200");
    }
    for (const client of clients) await client[Symbol.asyncDispose]();
  });
});

describe("connections and requests of a network without a valid key", () => {
  /** Sends requests one after another, and returns the number of their responses. */
  const countResponses = async (client: RawClient, request: string, count: number) => {
    const before = client.statuses.length;
    for (let i = 1; i <= count && !client.isClosed; i++) {
      await client.write(request);
      await eventually(() => expect(client.isClosed || client.statuses.length === before + i).toBe(true));
    }
    return client.statuses.length - before;
  };
  const canConnect = async (port: number, address: string) => {
    await using client = new RawClient(port, { address });
    await client.write(get("/healthz"));
    await eventually(() => expect(client.isClosed || client.statuses.length > 0).toBe(true));
    return client.statuses.length > 0;
  };
  const startLimited = (options: Parameters<typeof startTestGateway>[0] = {}) =>
    start({ limits: { keylessPerSecond: 0.5 }, ...options });

  test("Connections closes the connections of a network after 50 connections and requests at once, and accepts new ones after 5 seconds", async () => {
    const { gateway, port, advanceMs } = await startLimited();
    await using _ = gateway;
    await using otherNetworkClient = new RawClient(port, { address: "127.0.0.2" });
    expect(await countResponses(otherNetworkClient, get("/healthz"), 1)).toBe(1);
    await using idleClient = new RawClient(port);
    expect(await countResponses(idleClient, get("/none"), 1)).toBe(1);
    await using client = new RawClient(port);
    // The two connections and the request of the other client count, too.
    expect(await countResponses(client, get("/docs/start.js"), 60)).toBe(47);
    await idleClient.waitUntilClosed();
    expect(await canConnect(port, "127.0.0.1")).toBe(false);
    expect(await countResponses(otherNetworkClient, get("/healthz"), 2)).toBe(2);
    advanceMs(5_000);
    expect(await canConnect(port, "127.0.0.1")).toBe(true);
  });

  test("Connections counts the requests of a connection that Node parses after Connections has closed the connection", async () => {
    const { gateway, port } = await startLimited();
    await using _ = gateway;
    await using idleClient = new RawClient(port);
    expect(await countResponses(idleClient, get("/healthz"), 1)).toBe(1);
    await using client = new RawClient(port);
    await client.write(get("/healthz").repeat(100));
    await client.waitUntilClosed();
    await idleClient.waitUntilClosed();
  });

  test("Connections counts each 100 chunks of a body as a request, also with a valid key", async () => {
    const { gateway, port } = await startLimited();
    await using _ = gateway;
    const { authorization } = gateway.business.headers;
    await using idleClient = new RawClient(port);
    expect(await countResponses(idleClient, get("/healthz"), 1)).toBe(1);
    await using client = new RawClient(port);
    await client.write(headOf("/api/v1/clients/person", { authorization }) + inOneByteChunks(" ".repeat(4_000)));
    await eventually(() => expect(gateway.bytes.countOf(totalKey)).toBeGreaterThan(0));
    expect(await countResponses(idleClient, get("/healthz"), 2)).toBe(2);
    await client.write(inOneByteChunks(" ".repeat(1_000)));
    await client.waitUntilClosed();
    await idleClient.waitUntilClosed();
  });

  test("Connections counts each 256 KiB of a static file as one more request", async () => {
    const { gateway, port } = await startLimited();
    await using _ = gateway;
    await using client = new RawClient(port);
    const head = get("/docs/reference.js").replace("GET", "HEAD");
    expect(await countResponses(client, head, 3)).toBe(3);
    // A request for the uncompressed API reference counts as 17 requests.
    expect(await countResponses(client, get("/docs/reference.js"), 4)).toBe(3);
    await client.waitUntilClosed();
  });

  test("Connections does not count requests with a valid key, nor their connections", async () => {
    const { gateway, port } = await startLimited();
    await using _ = gateway;
    const { read, release } = delayReads(gateway);
    release();
    for (let i = 0; i < 3; i++) {
      await using client = new RawClient(port);
      expect(await countResponses(client, read, 30)).toBe(30);
    }
    await using client = new RawClient(port);
    expect(await countResponses(client, get("/healthz"), 48)).toBe(48);
  });

  test("Connections counts a request beyond the rate limit of its business as a quarter of a request", async () => {
    const { gateway, port } = await startLimited({ limits: { keylessPerSecond: 0.5, perSecond: 1, burst: 1 } });
    await using _ = gateway;
    const { read, release } = delayReads(gateway);
    release();
    await using client = new RawClient(port);
    expect(await countResponses(client, read, 300)).toBe(198);
    expect(new Set(client.statuses)).toEqual(new Set(["200", "429"]));
  });

  test("Connections counts a request whose key look-up failed as a quarter of a request", async () => {
    const { gateway, port } = await startLimited();
    await using _ = gateway;
    const { read } = delayReads(gateway);
    gateway.behaviour.keyLeases.resolveKeys = async () => {
      throw new Error("the identity service is unavailable");
    };
    await using client = new RawClient(port);
    expect(await countResponses(client, read, 60)).toBe(60);
    expect(new Set(client.statuses)).toEqual(new Set(["503"]));
  });

  test("Connections does not count requests of trusted proxies and of networks that have sent a genuine callback", async () => {
    const server = createServer((_request, response) => response.end());
    const proven = new Map([["127.0.0.3", true as const]]);
    new Connections({ perNetwork: 0, stallMs, trustedProxies: ["127.0.0.2"], keylessPerSecond: 1, proven }).watch(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    await using _ = server;
    for (const [address, expected] of [
      ["127.0.0.1", 4],
      ["127.0.0.2", 20],
      ["127.0.0.3", 20],
    ] as const) {
      await using client = new RawClient((server.address() as AddressInfo).port, { address });
      expect(await countResponses(client, get("/"), 20), address).toBe(expected);
    }
  });
});

describe("Connections with responses that the caller reads slowly or not at all", () => {
  // The responses have more bytes than the operating system buffers for one connection.
  const largeRequests = get("/docs/reference.js").repeat(8);

  test.each([
    ["", () => {}],
    [", even if the caller continues to send", (client: RawClient) => void client.socket.write("G")],
  ])("Connections closes a connection if the caller reads nothing of the response for 30 seconds%s", async (_name, sendMore) => {
    const { gateway, port, accepted, advanceMs } = await start();
    await using _ = gateway;
    await using client = new RawClient(port, { reads: false });
    await client.write(largeRequests);
    await eventually(() => expect(accepted[0]?.writableLength).toBeGreaterThan(0));
    await eventually(() => {
      sendMore(client);
      advanceMs(stallMs);
      expect(accepted[0]?.destroyed).toBe(true);
    });
  });

  test("Connections keeps the connection open while the caller reads the response slowly", async () => {
    const { gateway, port, accepted, advanceMs } = await start();
    await using _ = gateway;
    await using client = new RawClient(port, { reads: false });
    await client.write(largeRequests);
    await eventually(() => expect(accepted[0]?.writableLength).toBeGreaterThan(0));
    // The operating system accepts more bytes only after the caller has read some megabytes.
    for (let part = 1; part <= 8; part++) {
      await client.readUntil(part * 4_000_000);
      advanceMs(stallMs / 3);
      expect(accepted[0]?.destroyed).toBe(false);
    }
  });
});

test("Connections closes a connection if the caller does not close its side within 30 seconds after the last response", async () => {
  const { gateway, port, accepted, advanceMs } = await start();
  await using _ = gateway;
  await using client = new RawClient(port, { allowHalfOpen: true });
  await client.write("GARBAGE\r\n\r\n");
  await client.expectStatuses("400");
  advanceMs(0);
  expect(accepted[0]?.destroyed).toBe(false);
  advanceMs(stallMs);
  expect(accepted[0]?.destroyed).toBe(true);
});

test("Connections closes a connection with more than 8 pending requests, and the gateway does not execute the requests beyond 8", async () => {
  const { gateway, port } = await start();
  await using _ = gateway;
  const { read, release } = delayReads(gateway);
  await using allowedClient = new RawClient(port);
  await allowedClient.write(read.repeat(8));
  await eventually(() => expect(gateway.received.length).toBeGreaterThan(0));
  await using excessClient = new RawClient(port);
  await excessClient.write(get("/healthz") + read.repeat(300));
  await excessClient.waitUntilClosed();
  expect(excessClient.statuses.length).toBeLessThanOrEqual(1);
  release();
  await allowedClient.expectStatuses(...Array(8).fill("200"));
  expect(gateway.received.length).toBeLessThanOrEqual(16);
});

test("Connections calls the request listeners for 8 of 500 requests that arrive together", async () => {
  let requests = 0;
  const server = createServer(() => {
    requests++;
  });
  new Connections({ perNetwork: 0, stallMs, trustedProxies: [], keylessPerSecond: 0, proven: new Map() }).watch(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  await using _ = server;
  await using client = new RawClient((server.address() as AddressInfo).port);
  await client.write(get("/").repeat(500));
  await client.waitUntilClosed();
  expect(requests).toBe(8);
});

test("Connections closes a connection with more than 8 pending requests even if the gateway rejects their Expect headers", async () => {
  const { gateway, port } = await start();
  await using _ = gateway;
  const { read } = delayReads(gateway);
  await using client = new RawClient(port);
  await client.write(read + get("/healthz").replace("\r\n\r\n", "\r\nExpect: other\r\n\r\n").repeat(8));
  await client.waitUntilClosed();
  // The connection closed before the gateway sent the first response.
  expect(client.statuses).toEqual([]);
});

test("the gateway releases the bytes and the requests in flight of a connection on which a CONNECT follows pending requests", async () => {
  const { gateway, port } = await start({ loadBounds: { total: 1_000, perCaller: 10 } });
  await using _ = gateway;
  const { read } = delayReads(gateway);
  const counted =
    read + get("/docs").repeat(3) + "POST /receipts/x/email HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n".repeat(3);
  for (let i = 0; i < 4; i++) {
    await using client = new RawClient(port);
    await client.write(`${counted}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`);
    await client.waitUntilClosed();
  }
  await eventually(() => expect(gateway.bytes.countOf(totalKey)).toBe(0));
  await using client = new RawClient(port);
  await client.write(get("/docs"));
  await client.expectStatuses("200");
});
