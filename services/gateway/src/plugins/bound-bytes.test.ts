import { KeyState } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { eventually } from "@amana/testing";
import { describe, expect, test } from "vitest";
import { delayReads } from "../../test/delay-reads.ts";
import { startTestGateway, type TestGateway } from "../../test/harness.ts";
import { headOf, inOneByteChunks, RawClient } from "../../test/raw-client.ts";
import { totalKey } from "../bounded-counters.ts";

const id = "019a0000-0000-7000-8000-000000000001";
const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;
const refundPath = `/api/v1/payments/${id}/refund`;

async function start(options: Parameters<typeof startTestGateway>[0] = {}) {
  // With a long lease the gateway does not look the key up for each request.
  const gateway = await startTestGateway({ leaseMs: 60_000, ...options });
  gateway.behaviour.payments.refundPayment = async () => ({ id, currency: "DZD", status: PaymentStatus.REFUNDED });
  gateway.behaviour.payments.getPayment = async () => ({ id, currency: "DZD", status: PaymentStatus.PAID });
  const port = Number(new URL(await gateway.app.listen({ host: "127.0.0.1", port: 0 })).port);
  return { gateway, port, used: (key: string) => gateway.bytes.countOf(key) };
}

const refund = ({ headers }: ReturnType<TestGateway["aKey"]>, length?: number) => headOf(refundPath, headers, length);
/** Sends a request with the key, so that the gateway caches the key under a lease. */
const useKey = (gateway: TestGateway, { headers }: ReturnType<TestGateway["aKey"]>) =>
  gateway.app.inject({ url: `/api/v1/payments/${id}`, headers });

describe("boundBytes with one-byte chunks", () => {
  test("boundBytes reads one-byte chunks into one buffer of at most twice the body's length", async () => {
    const { gateway, port, used } = await start();
    await using _ = gateway;
    const key = gateway.aKey();
    await useKey(gateway, key);
    const text = `{"amount":"10.00"${" ".repeat(8_500)}}`;
    await using client = new RawClient(port);
    await client.write(refund(key) + inOneByteChunks(text.slice(0, -1)));
    await eventually(() => expect(used(key.businessId)).toBe(16 * kibibyte));
    await client.write(`${inOneByteChunks("}")}0\r\n\r\n`);
    await client.expectStatuses("200");
    expect(gateway.received.at(-1)?.request).toMatchObject({ amountMinor: 1000n });
    await eventually(() => expect(used(totalKey)).toBe(0));
  });

  test("boundBytes returns 413 for a request without a key if the body exceeds the limit of the route", async () => {
    const { gateway, port, used } = await start();
    await using _ = gateway;
    await using client = new RawClient(port);
    await client.write(headOf("/callbacks/kyc", {}));
    const chunk = `400\r\n${"a".repeat(kibibyte)}\r\n`;
    await client.write(chunk.repeat(257));
    await client.expectStatuses("413");
    await eventually(() => expect(used(totalKey)).toBe(0));
  });
});

describe("boundBytes with more than 10 000 chunks", () => {
  test("boundBytes returns 413 for a body of 10 001 chunks, and serves the next request on the connection", async () => {
    const { gateway, port, used } = await start();
    await using _ = gateway;
    await using client = new RawClient(port);
    await client.write(`${headOf("/callbacks/kyc", {})}${inOneByteChunks("a".repeat(10_001))}0\r\n\r\n`);
    await client.expectStatuses("413");
    expect(client.text).toContain("too many small chunks");
    await client.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await client.expectStatuses("413", "200");
    expect(used(totalKey)).toBe(0);
  });

  test.each([
    ["POST", "/callbacks/kyc"],
    ["POST", "/unknown"],
    ["GET", "/healthz"],
  ])("boundBytes closes the connection after 20 000 chunks of a request body to %s %s", async (method, path) => {
    const { gateway, port } = await start();
    await using _ = gateway;
    await using client = new RawClient(port);
    await client.write(headOf(path, {}).replace("POST", method) + inOneByteChunks("a".repeat(20_001)));
    await client.waitUntilClosed();
  });

  test.each([
    ["an invalid path", headOf("/%zz", {})],
    ["an unknown Expect header", headOf("/callbacks/kyc", { expect: "other" })],
  ])(
    "boundBytes closes the connection after 20 000 chunks of the body of a request with %s, while the request waits for an earlier response",
    async (_name, head) => {
      const { gateway, port } = await start();
      await using _ = gateway;
      const { read } = delayReads(gateway);
      await using client = new RawClient(port);
      await client.write(read + head + inOneByteChunks("a".repeat(20_001)));
      await client.waitUntilClosed();
      // The connection closed before the gateway sent the first response.
      expect(client.statuses).toEqual([]);
    },
  );
});

describe("boundBytes for a business", () => {
  test("boundBytes returns 429 before the body is sent if the request's Content-Length exceeds the limit of the business", async () => {
    const { gateway, port, used } = await start({ byteBounds: { perBusiness: mebibyte } });
    await using _ = gateway;
    const [key, otherKey] = [gateway.aKey(), gateway.aKey()];
    await useKey(gateway, key);
    await using first = new RawClient(port);
    await first.write(refund(key, mebibyte));
    await eventually(() => expect(used(key.businessId)).toBe(mebibyte));

    await using second = new RawClient(port);
    await second.write(refund(gateway.aKey({ businessId: key.businessId }), 2));
    await second.expectStatuses("429");
    // This body is complete before the gateway has looked up the key.
    await second.write(`{}${refund(gateway.aKey({ businessId: key.businessId }), 2)}{}`);
    await second.expectStatuses("429", "429");
    expect(second.text).toMatch(/\r\nretry-after: 1\r\n/i);
    expect(second.text).toContain('"code":"rate_limited"');
    await using third = new RawClient(port);
    await third.write(`${refund(otherKey, 2)}{}`);
    await third.expectStatuses("200");

    first.socket.destroy();
    await eventually(() => expect(used(totalKey)).toBe(0));
    await using fourth = new RawClient(port);
    await fourth.write(`${refund(key, 2)}{}`);
    await fourth.expectStatuses("200");
  });

  test("boundBytes returns 429 for a chunked body that grows beyond the limit of the business", async () => {
    const { gateway, port, used } = await start({ byteBounds: { perBusiness: 64 * kibibyte } });
    await using _ = gateway;
    const key = gateway.aKey();
    await useKey(gateway, key);
    await using client = new RawClient(port);
    await client.write(`${refund(key)}${`2000\r\n${" ".repeat(0x2000)}\r\n`.repeat(9)}`);
    await client.expectStatuses("429");
    await eventually(() => expect(used(totalKey)).toBe(0));
  });

  test("boundBytes counts the bytes of a body until the response is sent, even if the service is slow", async () => {
    const { gateway, port, used } = await start();
    await using _ = gateway;
    const key = gateway.aKey();
    const responseReady = Promise.withResolvers<void>();
    gateway.behaviour.payments.refundPayment = async () => {
      await responseReady.promise;
      return { id, currency: "DZD", status: PaymentStatus.REFUNDED };
    };
    await using client = new RawClient(port);
    await client.write(`${refund(key, 100)}{}${" ".repeat(98)}`);
    await eventually(() => expect(gateway.received.map(({ rpc }) => rpc)).toEqual(["RefundPayment"]));
    expect(used(key.businessId)).toBe(100);
    responseReady.resolve();
    await client.expectStatuses("200");
    await eventually(() => expect(used(totalKey)).toBe(0));
  });
});

describe("a caller that does not read its responses", () => {
  const largeText = "d".repeat(100 * kibibyte);
  const requestText = (key: ReturnType<TestGateway["aKey"]>, method: string, path: string) =>
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${key.headers.authorization}\r\n\r\n`;
  /**
   * Sends requests on a connection whose first responses are not read, so that later responses
   * wait.
   */
  const sendWithoutReading = async (port: number, text: string) => {
    const client = new RawClient(port, { reads: false });
    await client.write("GET /docs/reference.js HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(3) + text);
    return client;
  };

  test("boundBytes returns 429 for GET requests while the caller's unread responses exceed the limit of the business", async () => {
    const { gateway, port, used } = await start();
    await using _ = gateway;
    const key = gateway.aKey();
    await useKey(gateway, key);
    const payment = { id, currency: "DZD", status: PaymentStatus.PAID, description: "d".repeat(3.5 * mebibyte) };
    gateway.behaviour.payments.getPayment = async () => payment;
    const clients: RawClient[] = [];
    await eventually(async () => {
      clients.push(await sendWithoutReading(port, requestText(key, "GET", `/api/v1/payments/${id}`).repeat(5)));
      const { statusCode } = await useKey(gateway, key);
      expect(statusCode).toBe(429);
    });
    expect(used(key.businessId)).toBeLessThanOrEqual(16 * mebibyte);
    for (const client of clients) client.read();
    await eventually(() => expect(used(totalKey)).toBe(0));
    expect(clients.flatMap(({ statuses }) => statuses.slice(3))).toContain("200");
    for (const client of clients) await client[Symbol.asyncDispose]();
    expect((await useKey(gateway, key)).statusCode).toBe(200);
  });

  test("boundBytes returns 429 for POST requests without a body while the caller's unread responses exceed the limit of the business", async () => {
    const { gateway, port, used } = await start({ byteBounds: { perBusiness: mebibyte } });
    await using _ = gateway;
    const key = gateway.aKey();
    await useKey(gateway, key);
    gateway.behaviour.payments.refundPayment = async () => ({
      id,
      currency: "DZD",
      status: PaymentStatus.REFUNDED,
      description: largeText,
    });
    const refundStatus = async () => {
      const { statusCode } = await gateway.app.inject({ method: "POST", url: refundPath, headers: key.headers });
      return statusCode;
    };
    const clients: RawClient[] = [];
    await eventually(async () => {
      clients.push(await sendWithoutReading(port, requestText(key, "POST", refundPath).repeat(4)));
      expect(await refundStatus()).toBe(429);
    });
    expect(used(key.businessId)).toBeLessThanOrEqual(2 * mebibyte);
    // Repeats the check, because the gateway may still execute requests that it admitted earlier.
    await eventually(async () => {
      const executed = gateway.received.length;
      expect(await refundStatus()).toBe(429);
      expect(gateway.received.length).toBe(executed);
    });
    for (const client of clients) await client[Symbol.asyncDispose]();
    await eventually(() => expect(used(totalKey)).toBe(0));
    expect(await refundStatus()).toBe(200);
  });

  test("boundBytes counts unread problem documents towards the limit of the business", async () => {
    const { gateway, port, used } = await start();
    await using _ = gateway;
    const key = gateway.aKey();
    await useKey(gateway, key);
    const query = Array.from({ length: 100 }, (_, i) => `${"u".repeat(50)}${i}=1`).join("&");
    const client = await sendWithoutReading(port, requestText(key, "GET", `/api/v1/payments?${query}`));
    await eventually(() => expect(used(key.businessId)).toBeGreaterThan(10_000));
    await client[Symbol.asyncDispose]();
    await eventually(() => expect(used(totalKey)).toBe(0));
  });
});

test("the gateway serves health checks while requests without a key have reached their common byte limit", async () => {
  const { gateway, port, used } = await start({ byteBounds: { total: mebibyte } });
  await using _ = gateway;
  await using client = new RawClient(port, { address: "127.0.0.2" });
  await client.write(headOf("/callbacks/kyc", {}, 256 * kibibyte));
  await eventually(() => expect(used("keyless")).toBe(256 * kibibyte));
  expect((await gateway.app.inject({ url: "/" })).statusCode).toBe(503);
  expect((await gateway.app.inject({ url: "/healthz" })).statusCode).toBe(200);
});

test.each([1, 3])(
  "boundBytes does not count the bytes of a response after the caller has disconnected (%i requests on the connection)",
  async (count) => {
    const { gateway, port, used } = await start();
    await using _ = gateway;
    const responseReady = Promise.withResolvers<void>();
    gateway.behaviour.payments.getPayment = async () => {
      await responseReady.promise;
      return { id, currency: "DZD", status: PaymentStatus.PAID };
    };
    const closed = Promise.withResolvers<void>();
    gateway.app.server.once("connection", (socket) => socket.once("close", () => closed.resolve()));
    const { authorization } = gateway.business.headers;
    const client = new RawClient(port);
    await client.write(
      `GET /api/v1/payments/${id} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`.repeat(count),
    );
    await eventually(() => expect(gateway.received).toHaveLength(count));
    await client[Symbol.asyncDispose]();
    await closed.promise;
    responseReady.resolve();
    // The responses to these requests show that the gateway has finished the requests of the closed
    // connection.
    for (let i = 0; i < 3; i++) expect((await useKey(gateway, gateway.business)).statusCode).toBe(200);
    await eventually(() => expect(used(totalKey)).toBe(0));
  },
);

describe("boundBytes for keyless requests", () => {
  test("boundBytes returns 429 for keyless requests beyond the byte limit of their network, and serves another network and a business", async () => {
    const { gateway, port, used } = await start({ byteBounds: { perNetwork: 256 * kibibyte } });
    await using _ = gateway;
    await using first = new RawClient(port);
    await first.write(headOf("/callbacks/kyc", {}, 200 * kibibyte));
    await eventually(() => expect(used("127.0.0.1")).toBe(200 * kibibyte));
    await using second = new RawClient(port);
    await second.write(headOf("/callbacks/kyc", {}, 100 * kibibyte));
    await second.expectStatuses("429");
    await using otherNetworkClient = new RawClient(port, { address: "127.0.0.2" });
    await otherNetworkClient.write(headOf("/callbacks/kyc", {}, 100 * kibibyte));
    await eventually(() => expect(used("127.0.0.2")).toBe(100 * kibibyte));
    await using business = new RawClient(port);
    await business.write(`${refund(gateway.aKey(), 2)}{}`);
    await business.expectStatuses("200");
  });

  test("boundBytes replaces an error page beyond the byte limit of a network with a short text", async () => {
    const { gateway, port, used } = await start({ byteBounds: { perNetwork: 16 * kibibyte } });
    await using _ = gateway;
    const { read, release } = delayReads(gateway);
    await using client = new RawClient(port);
    await client.write(read);
    await client.write("POST /receipts/x/email HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n".repeat(7));
    await eventually(() => expect(used("127.0.0.1")).toBeGreaterThan(0));
    release();
    await client.expectStatuses("200", ...Array(7).fill("503"));
    const pages = client.text.match(/<!doctype html>/gi) ?? [];
    const texts = client.text.match(/\r\n\r\n503 Service Unavailable\n/g) ?? [];
    expect(pages.length).toBeGreaterThan(0);
    expect(texts.length).toBeGreaterThan(0);
    expect(pages.length + texts.length).toBe(7);
    await eventually(() => expect(used(totalKey)).toBe(0));
  });

  test("the gateway counts error pages of invalid paths, and sends problem documents beyond the byte limit of a network", async () => {
    const { gateway, port, used } = await start({ byteBounds: { perNetwork: 40 * kibibyte } });
    await using _ = gateway;
    const { read, release } = delayReads(gateway);
    await using client = new RawClient(port);
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
    await client.write(read);
    for (const path of ["/pay/%zz", "/receipts/%zz", "/api/v1/payments/return/%zz"]) await client.write(get(path).repeat(2));
    await eventually(() => expect(used("127.0.0.1")).toBe(32 * kibibyte));
    release();
    await client.expectStatuses("200", ...Array(6).fill("404"));
    expect(client.text.match(/<!doctype html>/gi)).toHaveLength(2);
    expect(client.text.match(/"code":"not_found"/g)).toHaveLength(4);
    await eventually(() => expect(used(totalKey)).toBe(0));
  });

  test("boundBytes returns 503 for keyless requests beyond a quarter of the gateway's byte limit, and serves a business", async () => {
    const { gateway, port, used } = await start({ byteBounds: { total: mebibyte } });
    await using _ = gateway;
    await using first = new RawClient(port);
    await first.write(headOf("/callbacks/kyc", {}, 200 * kibibyte));
    await eventually(() => expect(used("keyless")).toBe(200 * kibibyte));
    await using second = new RawClient(port, { address: "127.0.0.2" });
    await second.write(headOf("/callbacks/kyc", {}, 100 * kibibyte));
    await second.expectStatuses("503");
    expect(second.text).toMatch(/\r\nretry-after: 1\r\n/i);
    await using business = new RawClient(port);
    await business.write(`${refund(gateway.aKey(), 600 * kibibyte)}{}${" ".repeat(600 * kibibyte - 2)}`);
    await business.expectStatuses("200");
  });

  test("boundBytes counts a request's body towards the limit of its network while the gateway looks up the key", async () => {
    const { gateway, port, used } = await start({ leaseMs: 0, byteBounds: { perNetwork: 64 * kibibyte } });
    await using _ = gateway;
    const lookUpStarted = Promise.withResolvers<void>();
    const lookUpReleased = Promise.withResolvers<void>();
    gateway.behaviour.keyLeases.resolveKeys = async ({ keyHashes }) => {
      lookUpStarted.resolve();
      await lookUpReleased.promise;
      return { resolutions: keyHashes.map(() => ({ state: KeyState.UNKNOWN })), leaseMs: 0 };
    };
    await using client = new RawClient(port);
    await client.write(refund(gateway.aKey()));
    await lookUpStarted.promise;
    await client.write(`2000\r\n${" ".repeat(0x2000)}\r\n`.repeat(4));
    await eventually(() => expect(used("127.0.0.1")).toBe(32 * kibibyte));
    await client.write(`2000\r\n${" ".repeat(0x2000)}\r\n`.repeat(8));
    await eventually(() => expect(used("127.0.0.1")).toBe(0));
    lookUpReleased.resolve();
    await client.expectStatuses("401");
  });
});

test("boundBytes returns 503 for a request when the bytes of all businesses exceed the gateway's limit", async () => {
  const { gateway, port, used } = await start({ byteBounds: { total: mebibyte } });
  await using _ = gateway;
  const [key, otherKey] = [gateway.aKey(), gateway.aKey()];
  await useKey(gateway, key);
  await using first = new RawClient(port);
  await first.write(refund(key, mebibyte));
  await eventually(() => expect(used(key.businessId)).toBe(mebibyte));
  await using second = new RawClient(port);
  await second.write(refund(otherKey, 2));
  await second.expectStatuses("503");
  expect(second.text).toContain('"code":"overloaded"');
});

test("boundBytes counts no bytes for the body of a GET, because the gateway discards this body while it is received", async () => {
  const { gateway, port, used } = await start();
  await using _ = gateway;
  const key = gateway.aKey();
  await using client = new RawClient(port);
  const head = refund(key).replace(`POST ${refundPath}`, `GET /api/v1/payments/${id}`);
  await client.write(`${head}${`2000\r\n${" ".repeat(0x2000)}\r\n`.repeat(300)}0\r\n\r\n`);
  await client.expectStatuses("200");
  expect(used(totalKey)).toBe(0);
});

test.each([
  ["a body that is announced but not sent", (key: string) => headOf(refundPath, { authorization: key }, 1_000)],
  ["a chunked body that stops", (key: string) => `${headOf(refundPath, { authorization: key })}1\r\n{\r\n`],
  ["headers that do not end", () => "POST / HTTP/1.1\r\nHost: local"],
  ["a connection without a byte", () => ""],
])("the gateway returns 408 for %s after REQUEST_TIMEOUT_MS, and releases the counted bytes", async (_name, text) => {
  const { gateway, port, used } = await start({ connectionBounds: { requestMs: 500 } });
  await using _ = gateway;
  await using client = new RawClient(port);
  await client.write(text(gateway.business.headers.authorization));
  await client.expectStatuses("408");
  await eventually(() => expect(used(totalKey)).toBe(0));
});
