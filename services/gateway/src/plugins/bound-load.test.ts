import net from "node:net";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { eventually } from "@amana/testing";
import { expect, test } from "vitest";
import { startTestGateway } from "../../test/harness.ts";

const id = "019a0000-0000-7000-8000-000000000001";

test("boundLoad returns 429 beyond a caller's limit of concurrent requests and 503 beyond the total limit, and accepts health checks", async () => {
  await using gateway = await startTestGateway({ loadBounds: { total: 3, perCaller: 2 } });
  const released = Promise.withResolvers<void>();
  gateway.behaviour.payments.getPayment = async () => {
    await released.promise;
    return { id, currency: "DZD", status: PaymentStatus.PAID };
  };
  const read = ({ headers }: { headers: Record<string, string> }) =>
    gateway.app.inject({ url: `/api/v1/payments/${id}`, headers });
  const [first, second, third] = [gateway.aKey(), gateway.aKey(), gateway.aKey()];
  const reads = [read(first), read(first)];
  await eventually(() => expect(gateway.received).toHaveLength(2));

  const rejectedResponse = await read(first);
  expect([rejectedResponse.statusCode, rejectedResponse.json().code, rejectedResponse.headers["retry-after"]]).toEqual([
    429,
    "rate_limited",
    "1",
  ]);
  expect([rejectedResponse.headers["ratelimit-limit"], rejectedResponse.headers["ratelimit-remaining"]]).toEqual(["2", "0"]);
  reads.push(read(second));
  await eventually(() => expect(gateway.received).toHaveLength(3));
  const overloadedResponse = await read(third);
  expect([overloadedResponse.statusCode, overloadedResponse.json().code, overloadedResponse.headers["retry-after"]]).toEqual([
    503,
    "overloaded",
    "1",
  ]);
  expect((await gateway.app.inject({ url: "/healthz" })).statusCode).toBe(200);

  released.resolve();
  expect((await Promise.all(reads)).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
  expect((await read(third)).statusCode).toBe(200);
});

test("boundLoad returns 503 for keyless requests beyond a quarter of the total limit, and serves a business", async () => {
  await using gateway = await startTestGateway({ loadBounds: { total: 8, perCaller: 8 } });
  const released = Promise.withResolvers<void>();
  gateway.behaviour.payments.returnFromProcessor = async () => {
    await released.promise;
    return { redirectUrl: "https://shop.example" };
  };
  gateway.behaviour.payments.getPayment = async () => ({ id, currency: "DZD", status: PaymentStatus.PAID });
  const returnFrom = (remoteAddress: string) =>
    gateway.app.inject({ url: `/api/v1/payments/return/${"a".repeat(32)}`, remoteAddress });
  const returns = ["192.0.2.1", "192.0.2.2"].map(returnFrom);
  await eventually(() => expect(gateway.received).toHaveLength(2));
  expect((await returnFrom("192.0.2.3")).statusCode).toBe(503);
  const { headers } = gateway.business;
  expect((await gateway.app.inject({ url: `/api/v1/payments/${id}`, headers })).statusCode).toBe(200);
  released.resolve();
  expect((await Promise.all(returns)).map(({ statusCode }) => statusCode)).toEqual([303, 303]);
});

test("boundLoad does not count a request whose caller disconnects during the key look-up, and the gateway does not call the service", async () => {
  await using gateway = await startTestGateway({ loadBounds: { total: 2, perCaller: 2 } });
  gateway.behaviour.payments.getPayment = async () => ({ id, currency: "DZD", status: PaymentStatus.PAID });
  const { port } = new URL(await gateway.app.listen({ host: "127.0.0.1", port: 0 }));
  const lookUp = gateway.behaviour.keyLeases.resolveKeys;
  if (!lookUp) throw new Error("the test gateway has no resolveKeys");
  const released = Promise.withResolvers<void>();
  let lookUps = 0;
  gateway.behaviour.keyLeases.resolveKeys = async (...call) => {
    lookUps++;
    await released.promise;
    return await lookUp(...call);
  };
  const { authorization } = gateway.business.headers;
  for (let i = 1; i <= 2; i++) {
    const socket = net.connect(Number(port), "127.0.0.1");
    socket.write(`GET /api/v1/payments/${id} HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`);
    await eventually(() => expect(lookUps).toBe(i));
    socket.destroy();
  }
  await eventually(() => expect(connectionsOf(gateway.app.server)).resolves.toBe(0));
  released.resolve();
  const read = () => gateway.app.inject({ url: `/api/v1/payments/${id}`, headers: gateway.business.headers });
  for (let i = 0; i < 3; i++) expect((await read()).statusCode).toBe(200);
  expect(gateway.received).toHaveLength(3);
});

const connectionsOf = (server: net.Server) =>
  new Promise<number>((resolve, reject) => server.getConnections((error, count) => (error ? reject(error) : resolve(count))));
