import { once } from "node:events";
import net from "node:net";
import { keyLeaseMsMax } from "@amana/api-keys";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { eventually } from "@amana/testing";
import { expect, test } from "vitest";
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
