import net from "node:net";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { eventually } from "@amana/testing";
import { expect, test } from "vitest";
import { startTestGateway } from "../../test/harness.ts";

const id = "019a0000-0000-7000-8000-000000000001";

test("more than can be answered at once is refused with when to come back; probes are answered, and room comes back", async () => {
  await using gateway = await startTestGateway({ loadBounds: { total: 3, perCaller: 2 } });
  let answerAll = () => {};
  const answered = new Promise<void>((resolve) => {
    answerAll = resolve;
  });
  gateway.behaviour.payments.getPayment = async () => {
    await answered;
    return { id, currency: "DZD", status: PaymentStatus.PAID };
  };
  const read = ({ headers }: { headers: Record<string, string> }) =>
    gateway.app.inject({ url: `/api/v1/payments/${id}`, headers });
  const [one, other, another] = [gateway.aKey(), gateway.aKey(), gateway.aKey()];
  const reads = [read(one), read(one)];
  await eventually(() => expect(gateway.received).toHaveLength(2));

  const own = await read(one);
  expect([own.statusCode, own.json().code, own.headers["retry-after"]]).toEqual([429, "rate_limited", "1"]);
  expect([own.headers["ratelimit-limit"], own.headers["ratelimit-remaining"]]).toEqual(["2", "0"]);
  reads.push(read(other));
  await eventually(() => expect(gateway.received).toHaveLength(3));
  const full = await read(another);
  expect([full.statusCode, full.json().code, full.headers["retry-after"]]).toEqual([503, "overloaded", "1"]);
  expect((await gateway.app.inject({ url: "/healthz" })).statusCode).toBe(200);

  answerAll();
  expect((await Promise.all(reads)).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
  expect((await read(another)).statusCode).toBe(200);
});

test("who goes away while its key is looked up takes no room, and nothing is done for it", async () => {
  await using gateway = await startTestGateway({ loadBounds: { total: 2, perCaller: 2 } });
  gateway.behaviour.payments.getPayment = async () => ({ id, currency: "DZD", status: PaymentStatus.PAID });
  const { port } = new URL(await gateway.app.listen({ host: "127.0.0.1", port: 0 }));
  const lookUp = gateway.behaviour.keyLeases.resolveKeys;
  if (!lookUp) throw new Error("the gateway of the test answers for keys");
  const released = Promise.withResolvers<void>();
  let lookedUp = 0;
  gateway.behaviour.keyLeases.resolveKeys = async (...asked) => {
    lookedUp++;
    await released.promise;
    return await lookUp(...asked);
  };
  const { authorization } = gateway.business.headers;
  for (let i = 1; i <= 2; i++) {
    const socket = net.connect(Number(port), "127.0.0.1");
    socket.write(`GET /api/v1/payments/${id} HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`);
    await eventually(() => expect(lookedUp).toBe(i));
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
