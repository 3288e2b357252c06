import { randomUUID } from "node:crypto";
import { once } from "node:events";
import net from "node:net";
import { keyLeaseMsMax } from "@amana/api-keys";
import { KeyState } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { eventually } from "@amana/testing";
import { describe, expect, test } from "vitest";
import { startTestGateway } from "../../test/harness.ts";

const order = '{"amount":"5000.00","success_url":"https://shop.example/a","fail_url":"https://shop.example/b"}';

/** Starts a listening gateway with a key and a counter of key look-ups. */
async function start(leaseMs: number) {
  const gateway = await startTestGateway({ leaseMs });
  const { keyLeases, payments } = gateway.behaviour;
  const { resolveKeys } = keyLeases;
  const counters = { lookUps: 0 };
  keyLeases.resolveKeys = (request, call) => {
    counters.lookUps++;
    return resolveKeys?.(request, call) ?? Promise.reject(new Error("the test gateway has no resolveKeys"));
  };
  payments.createPayment = async () => ({ id: "p", currency: "DZD", status: PaymentStatus.PENDING });
  await gateway.app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = gateway.app.addresses()[0] as { port: number };
  const key = gateway.aKey();

  /**
   * Sends the headers of a request. The returned `finish` sends the body and returns the status.
   */
  const begin = async (encoding: string) => {
    const socket = net.connect(port, "127.0.0.1");
    const headers = Object.entries(key.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const type = "Content-Type: application/json\r\nConnection: close\r\n";
    socket.write(`POST /api/v1/payments HTTP/1.1\r\nHost: a\r\n${type}${headers.join("")}${encoding}\r\n\r\n`);
    await eventually(() => expect(counters.lookUps).toBeGreaterThan(0));
    return {
      async finish(remainingText: string): Promise<string> {
        let response = "";
        socket.on("data", (chunk) => {
          response += String(chunk);
        });
        socket.write(remainingText);
        await once(socket, "close");
        return response.slice(9, 12);
      },
    };
  };
  const createdCount = () => gateway.received.filter(({ rpc }) => rpc === "CreatePayment").length;
  return { gateway, key, counters, begin, createdCount, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}

const waitForLongestLease = () => new Promise((resolve) => setTimeout(resolve, keyLeaseMsMax + 50));
const contentLengthHeader = `Content-Length: ${order.length}`;

test.each([
  ["with a Content-Length", contentLengthHeader, order],
  ["in chunks", "Transfer-Encoding: chunked", `${order.length.toString(16)}\r\n${order}\r\n0\r\n\r\n`],
])(
  "the gateway returns 401 and does not execute a request if the API key is revoked before the end of a body %s",
  async (_name, encoding, body) => {
    await using gatewayRun = await start(500);
    const lateRequest = await gatewayRun.begin(encoding);
    gatewayRun.key.revoke();
    await waitForLongestLease();
    expect(await lateRequest.finish(body)).toBe("401");
    expect(gatewayRun.createdCount()).toBe(0);
  },
);

test("the gateway executes a request if its body ends after the key's lease and the key is still valid", async () => {
  await using gatewayRun = await start(500);
  const lateRequest = await gatewayRun.begin(contentLengthHeader);
  await waitForLongestLease();
  expect(await lateRequest.finish(order)).toBe("201");
  expect([gatewayRun.createdCount(), gatewayRun.counters.lookUps]).toEqual([1, 2]);
});

test("the gateway looks up a key once for a request whose body ends within 500 ms of the look-up, even if identity grants leases of 0 ms", async () => {
  await using gatewayRun = await start(0);
  expect(await (await gatewayRun.begin(contentLengthHeader)).finish(order)).toBe("201");
  expect(gatewayRun.counters.lookUps).toBe(1);
});

describe("a key with allowed networks", () => {
  const limitedKey = { state: KeyState.LIVE_FROM_ALLOWED_IPS, allowedIps: ["203.0.113.0/24", "2001:db8::/32"] };
  const allowedAddresses = ["203.0.113.7", "::ffff:203.0.113.7", "2001:db8::7"];

  test("the gateway accepts a key with allowed networks in requests from these networks, and returns 403 to other networks", async () => {
    await using gateway = await startTestGateway();
    gateway.behaviour.payments.getPayment = async () => ({ currency: "DZD", status: PaymentStatus.PAID });
    const from = async (remoteAddress: string) => {
      const { headers } = gateway.aKey(limitedKey);
      return await gateway.app.inject({ url: `/api/v1/payments/${randomUUID()}`, headers, remoteAddress });
    };
    for (const address of allowedAddresses) expect((await from(address)).statusCode, address).toBe(200);
    gateway.received.length = 0;
    for (const address of ["203.0.114.7", "::ffff:203.0.114.7", "2001:db9::7", "127.0.0.1"]) {
      const response = await from(address);
      expect([response.statusCode, response.json().code], address).toEqual([403, "address_not_allowed"]);
    }
    expect(gateway.received).toEqual([]);
  });

  test("the gateway returns address_not_allowed for a valid key from another network before it checks the role and the body", async () => {
    await using gateway = await startTestGateway();
    const problemFor = async (key: object) => {
      const { headers } = gateway.aKey(key);
      return (await gateway.app.inject({ method: "POST", url: "/api/v1/payments", headers, payload: "{" })).json();
    };
    expect(await problemFor(limitedKey)).toMatchObject({ status: 403, code: "address_not_allowed" });
    expect(await problemFor({ ...limitedKey, admin: true })).toMatchObject({ code: "address_not_allowed" });
    expect(await problemFor({ ...limitedKey, state: KeyState.REVOKED })).toMatchObject({ code: "api_key_revoked" });
    expect(await problemFor({ ...limitedKey, state: KeyState.EXPIRED })).toMatchObject({ code: "api_key_expired" });
  });

  test("the gateway returns 403 for a key with an empty list of networks, and 503 for a key in an unknown state", async () => {
    await using gateway = await startTestGateway();
    const get = async (key: object) => await gateway.app.inject({ url: "/api/v1/me", headers: gateway.aKey(key).headers });
    expect((await get({ ...limitedKey, allowedIps: [] })).statusCode).toBe(403);
    expect((await get({ ...limitedKey, state: 99 })).statusCode).toBe(503);
  });

  test("the gateway uses X-Forwarded-For only from a trusted proxy", async () => {
    const forwarded = { "x-forwarded-for": "203.0.113.7" };
    for (const [trustedProxies, status] of [
      [["10.0.0.0/8"], 200],
      [["192.0.2.0/24"], 403],
      [[], 403],
    ] as const) {
      await using gateway = await startTestGateway({ trustedProxies: [...trustedProxies] });
      gateway.behaviour.payments.getPayment = async () => ({ currency: "DZD", status: PaymentStatus.PAID });
      const headers = { ...gateway.aKey(limitedKey).headers, ...forwarded };
      const response = await gateway.app.inject({ url: `/api/v1/payments/${randomUUID()}`, headers, remoteAddress: "10.0.0.1" });
      expect(response.statusCode, trustedProxies.join()).toBe(status);
    }
  });

  test("the gateway checks the last forwarded address that is not a trusted proxy, for any number of X-Forwarded-For headers", async () => {
    await using gateway = await startTestGateway({ trustedProxies: ["127.0.0.1", "10.0.0.0/8"] });
    gateway.behaviour.payments.getPayment = async () => ({ currency: "DZD", status: PaymentStatus.PAID });
    await gateway.app.listen({ host: "127.0.0.1", port: 0 });
    const { port } = gateway.app.addresses()[0] as { port: number };
    const statusOf = async (...forwarded: string[]) => {
      const socket = net.connect(port, "127.0.0.1");
      let response = "";
      socket.on("data", (chunk) => {
        response += String(chunk);
      });
      const authorization = Object.entries(gateway.aKey(limitedKey).headers).map(([name, value]) => `${name}: ${value}`);
      const addresses = forwarded.map((value) => `X-Forwarded-For: ${value}`);
      const head = [
        `GET /api/v1/payments/${randomUUID()} HTTP/1.1`,
        "Host: a",
        "Connection: close",
        ...authorization,
        ...addresses,
      ];
      socket.write(`${head.join("\r\n")}\r\n\r\n`);
      await once(socket, "close");
      return response.slice(9, 12);
    };
    const forbiddenAddress = "198.51.100.1";
    for (const address of allowedAddresses) {
      const [accepted, rejected] = [
        [
          [address],
          [`${forbiddenAddress}, ${address}`],
          [forbiddenAddress, address],
          [`${address}, 10.1.1.1`],
          [`garbage, ${address},`],
        ],
        [
          [`${address}, ${forbiddenAddress}`],
          [address, forbiddenAddress],
          [`${address}, garbage`],
          [`${address}, unknown, 10.0.0.1`],
        ],
      ];
      for (const forwarded of accepted) expect(await statusOf(...forwarded), String(forwarded)).toBe("200");
      for (const forwarded of rejected) expect(await statusOf(...forwarded), String(forwarded)).toBe("403");
    }
    for (const text of ["", "10.0.0.1", "203.000.113.007", "0xcb.0.113.7", "3405803783", "203.0.113.7;10.0.0.1"])
      expect(await statusOf(text), text).toBe("403");
    // An address with a port is invalid: the proxy must omit the port.
    for (const text of ["203.0.113.7:5123", "[2001:db8::7]:443"]) expect(await statusOf(text), text).toBe("403");
  });

  test("the gateway sends one look-up for a key with allowed networks if several addresses use the key", async () => {
    await using gatewayRun = await start(60_000);
    const { headers } = gatewayRun.gateway.aKey(limitedKey);
    const from = (remoteAddress: string) =>
      gatewayRun.gateway.app.inject({ url: "/api/v1/admin/refunds", headers, remoteAddress });
    const codes = [];
    for (const address of allowedAddresses) codes.push((await from(address)).json().code);
    codes.push((await from("127.0.0.1")).json().code);
    expect(codes).toEqual(["admin_required", "admin_required", "admin_required", "address_not_allowed"]);
    expect(gatewayRun.counters.lookUps).toBe(1);
  });
});
