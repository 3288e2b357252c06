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

/** A gateway on a port, a key, and a count of look-ups. */
async function aGateway(leaseMs: number) {
  const gateway = await startTestGateway({ leaseMs });
  const { keyLeases, payments } = gateway.behaviour;
  const { resolveKeys } = keyLeases;
  const seen = { lookUps: 0 };
  keyLeases.resolveKeys = (request, call) => {
    seen.lookUps++;
    return resolveKeys?.(request, call) ?? Promise.reject(new Error("not given"));
  };
  payments.createPayment = async () => ({ id: "p", currency: "DZD", status: PaymentStatus.PENDING });
  await gateway.app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = gateway.app.addresses()[0] as { port: number };
  const key = gateway.aKey();

  /** Sends the headers; the rest is sent by `finish`, which resolves with the status. */
  const begin = async (encoding: string) => {
    const socket = net.connect(port, "127.0.0.1");
    const headers = Object.entries(key.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const type = "Content-Type: application/json\r\nConnection: close\r\n";
    socket.write(`POST /api/v1/payments HTTP/1.1\r\nHost: a\r\n${type}${headers.join("")}${encoding}\r\n\r\n`);
    await eventually(() => expect(seen.lookUps).toBeGreaterThan(0));
    return {
      async finish(rest: string): Promise<string> {
        let answer = "";
        socket.on("data", (chunk) => {
          answer += String(chunk);
        });
        socket.write(rest);
        await once(socket, "close");
        return answer.slice(9, 12);
      },
    };
  };
  const created = () => gateway.received.filter(({ rpc }) => rpc === "CreatePayment").length;
  return { gateway, key, seen, begin, created, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}

const pastAnyLease = () => new Promise((resolve) => setTimeout(resolve, keyLeaseMsMax + 50));
const sized = `Content-Length: ${order.length}`;

test.each([
  ["of a told length", sized, order],
  ["in chunks", "Transfer-Encoding: chunked", `${order.length.toString(16)}\r\n${order}\r\n0\r\n\r\n`],
])("a request whose body %s comes after its key was revoked does not act", async (_how, encoding, body) => {
  await using run = await aGateway(500);
  const late = await run.begin(encoding);
  run.key.revoke();
  await pastAnyLease();
  expect(await late.finish(body)).toBe("401");
  expect(run.created()).toBe(0);
});

test("a request whose body comes late acts while its key is good", async () => {
  await using run = await aGateway(500);
  const late = await run.begin(sized);
  await pastAnyLease();
  expect(await late.finish(order)).toBe("201");
  expect([run.created(), run.seen.lookUps]).toEqual([1, 2]);
});

test("a body that comes in time costs no second look-up, even where leases are off", async () => {
  await using run = await aGateway(0);
  expect(await (await run.begin(sized)).finish(order)).toBe("201");
  expect(run.seen.lookUps).toBe(1);
});

describe("a key for some networks alone", () => {
  const limited = { state: KeyState.LIVE_FROM_ALLOWED_IPS, allowedIps: ["203.0.113.0/24", "2001:db8::/32"] };
  const within = ["203.0.113.7", "::ffff:203.0.113.7", "2001:db8::7"];

  test("is let in from there, and refused from elsewhere", async () => {
    await using gateway = await startTestGateway();
    gateway.behaviour.payments.getPayment = async () => ({ currency: "DZD", status: PaymentStatus.PAID });
    const from = async (remoteAddress: string) => {
      const { headers } = gateway.aKey(limited);
      return await gateway.app.inject({ url: `/api/v1/payments/${randomUUID()}`, headers, remoteAddress });
    };
    for (const address of within) expect((await from(address)).statusCode, address).toBe(200);
    gateway.received.length = 0;
    for (const address of ["203.0.114.7", "::ffff:203.0.114.7", "2001:db9::7", "127.0.0.1"]) {
      const answer = await from(address);
      expect([answer.statusCode, answer.json().code], address).toEqual([403, "address_not_allowed"]);
    }
    expect(gateway.received).toEqual([]);
  });

  test("is refused before its role and the form of the request are looked at, and after whether it works", async () => {
    await using gateway = await startTestGateway();
    const answerTo = async (key: object) => {
      const { headers } = gateway.aKey(key);
      return (await gateway.app.inject({ method: "POST", url: "/api/v1/payments", headers, payload: "{" })).json();
    };
    expect(await answerTo(limited)).toMatchObject({ status: 403, code: "address_not_allowed" });
    expect(await answerTo({ ...limited, admin: true })).toMatchObject({ code: "address_not_allowed" });
    expect(await answerTo({ ...limited, state: KeyState.REVOKED })).toMatchObject({ code: "api_key_revoked" });
    expect(await answerTo({ ...limited, state: KeyState.EXPIRED })).toMatchObject({ code: "api_key_expired" });
  });

  test("opens nothing without networks, nor in a state of a later version", async () => {
    await using gateway = await startTestGateway();
    const get = async (key: object) => await gateway.app.inject({ url: "/api/v1/me", headers: gateway.aKey(key).headers });
    expect((await get({ ...limited, allowedIps: [] })).statusCode).toBe(403);
    expect((await get({ ...limited, state: 99 })).statusCode).toBe(503);
  });

  test("is held against the address that trusted proxies tell of, and no other", async () => {
    const forwarded = { "x-forwarded-for": "203.0.113.7" };
    for (const [trustedProxies, status] of [
      [["10.0.0.0/8"], 200],
      [["192.0.2.0/24"], 403],
      [[], 403],
    ] as const) {
      await using gateway = await startTestGateway({ trustedProxies: [...trustedProxies] });
      gateway.behaviour.payments.getPayment = async () => ({ currency: "DZD", status: PaymentStatus.PAID });
      const headers = { ...gateway.aKey(limited).headers, ...forwarded };
      const answer = await gateway.app.inject({ url: `/api/v1/payments/${randomUUID()}`, headers, remoteAddress: "10.0.0.1" });
      expect(answer.statusCode, trustedProxies.join()).toBe(status);
    }
  });

  test("is held against the last address that a trusted proxy did not write of itself, in whatever form it came", async () => {
    await using gateway = await startTestGateway({ trustedProxies: ["127.0.0.1", "10.0.0.0/8"] });
    gateway.behaviour.payments.getPayment = async () => ({ currency: "DZD", status: PaymentStatus.PAID });
    await gateway.app.listen({ host: "127.0.0.1", port: 0 });
    const { port } = gateway.app.addresses()[0] as { port: number };
    const statusOf = async (...forwarded: string[]) => {
      const socket = net.connect(port, "127.0.0.1");
      let answer = "";
      socket.on("data", (chunk) => {
        answer += String(chunk);
      });
      const given = Object.entries(gateway.aKey(limited).headers).map(([name, value]) => `${name}: ${value}`);
      const claims = forwarded.map((value) => `X-Forwarded-For: ${value}`);
      const head = [`GET /api/v1/payments/${randomUUID()} HTTP/1.1`, "Host: a", "Connection: close", ...given, ...claims];
      socket.write(`${head.join("\r\n")}\r\n\r\n`);
      await once(socket, "close");
      return answer.slice(9, 12);
    };
    const elsewhere = "198.51.100.1";
    for (const address of within) {
      const [lets, refuses] = [
        [[address], [`${elsewhere}, ${address}`], [elsewhere, address], [`${address}, 10.1.1.1`], [`garbage, ${address},`]],
        [[`${address}, ${elsewhere}`], [address, elsewhere], [`${address}, garbage`], [`${address}, unknown, 10.0.0.1`]],
      ];
      for (const claims of lets) expect(await statusOf(...claims), String(claims)).toBe("200");
      for (const claims of refuses) expect(await statusOf(...claims), String(claims)).toBe("403");
    }
    for (const claim of ["", "10.0.0.1", "203.000.113.007", "0xcb.0.113.7", "3405803783", "203.0.113.7;10.0.0.1"])
      expect(await statusOf(claim), claim).toBe("403");
    // With a port it is no address: a proxy must leave it out.
    for (const claim of ["203.0.113.7:5123", "[2001:db8::7]:443"]) expect(await statusOf(claim), claim).toBe("403");
  });

  test("needs no look-up of its own", async () => {
    await using run = await aGateway(500);
    const { headers } = run.gateway.aKey(limited);
    const from = (remoteAddress: string) => run.gateway.app.inject({ url: "/api/v1/admin/refunds", headers, remoteAddress });
    const codes = [];
    for (const address of within) codes.push((await from(address)).json().code);
    codes.push((await from("127.0.0.1")).json().code);
    expect(codes).toEqual(["admin_required", "admin_required", "admin_required", "address_not_allowed"]);
    expect(run.seen.lookUps).toBe(1);
  });
});
