import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { eventually } from "@amana/testing";
import { describe, expect, test } from "vitest";
import { delayReads } from "../test/delay-reads.ts";
import { startTestGateway } from "../test/harness.ts";
import { RawClient } from "../test/raw-client.ts";
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

const stallMs = 30_000;

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
  new Connections({ perNetwork: 0, stallMs, trustedProxies: [] }).watch(server);
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
