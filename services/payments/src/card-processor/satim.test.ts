import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { CardProcessor } from "./card-processor.ts";
import { createSatim } from "./satim.ts";

/** Selects the calls to which the simulated processor does not respond. */
let isHeld: (path: string, orderId: string) => boolean;
let received: string[];
let refundResponse: () => object;
const held: ServerResponse[] = [];
const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
  const form = new URLSearchParams(await text(request));
  const path = request.url ?? "";
  const order = form.get("orderId") ?? form.get("mdOrder") ?? form.get("description") ?? "";
  received.push(`${path.slice(1, 4)} ${order}`);
  if (isHeld(path, order)) return held.push(response);
  const body = path === "/refund.do" ? refundResponse() : { errorCode: 0, orderStatus: 2, orderId: "o", formUrl: "http://f" };
  response.setHeader("content-type", "application/json").end(JSON.stringify(body));
});

let processor: CardProcessor & AsyncDisposable;
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
beforeEach(() => {
  isHeld = () => false;
  received = [];
  refundResponse = () => ({ errorCode: 0 });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  processor = createSatim({ url, userName: "u", password: "p", terminalId: "t", timeoutMs: 20_000, connectTimeoutMs: 2_000 });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
const dropHeld = () => {
  for (const response of held.splice(0)) response.destroy();
};

const register = (businessId: string) =>
  processor.register(
    {
      businessId,
      orderNumber: "1",
      amountMinor: 5_000n,
      returnUrl: "",
      language: "FR",
      description: businessId,
      orderRef: undefined,
    },
    20_000,
  );
const status = (businessId: string) => processor.status({ businessId, orderId: businessId }, 20_000);
const confirm = (businessId: string) => processor.confirm({ businessId, orderId: businessId, language: "FR" }, 20_000);
const refund = (businessId: string) =>
  processor.refund({ businessId, orderId: businessId, amountMinor: 1n }, 20_000, async () => true);
const repeat100 = (work: () => Promise<unknown>) => Array.from({ length: 100 }, work);

describe("while the processor does not respond to a hundred calls of one business, createSatim", () => {
  test.each([
    ["registrations", 8, register],
    ["reads", 16, status],
    ["refunds", 16, refund],
  ] as const)("completes %s of another business at once, with %i in flight of the first business", async (_kind, slots, call) => {
    isHeld = (_path, order) => order === "busy";
    const calls = repeat100(() => call("busy"));
    expect(await call("other")).toMatchObject({ kind: "accepted" });
    expect(received.filter((line) => line.endsWith("busy"))).toHaveLength(slots);
    expect(processor.isCrowded("busy", "registrations")).toBe(call === register);
    expect(processor.isCrowded("busy", "reads")).toBe(call === status);
    expect(processor.isCrowded("other", "reads")).toBe(false);
    expect(processor.isCrowded("other", "registrations")).toBe(false);
    isHeld = () => false;
    dropHeld();
    await Promise.all(calls);
  });

  test("confirms at once, because registrations and refunds use other slots", async () => {
    isHeld = (path) => path === "/register.do" || path === "/refund.do";
    const calls = [
      ...repeat100(() => register("busy")),
      ...repeat100(() => refund("busy")),
      ...repeat100(() => register("other")),
    ];
    expect(await confirm("busy")).toMatchObject({ kind: "accepted" });
    isHeld = () => false;
    dropHeld();
    await Promise.all(calls);
  });
});

describe("createSatim: refund", () => {
  test.each([
    [{ errorCode: "0" }, { kind: "accepted" }],
    [
      { errorCode: 5, errorMessage: "Access denied" },
      { kind: "refused", errorCode: "5" },
    ],
    [{ errorCode: "6" }, { kind: "refused", errorCode: "6" }],
    [
      { errorCode: "7", errorMessage: "System error" },
      { kind: "unknown", reason: "code 7: System error" },
    ],
    [{ errorCode: 7 }, { kind: "unknown" }],
    [{}, { kind: "unknown" }],
  ])("maps the response %j to the outcome %j", async (response, expected) => {
    refundResponse = () => response;
    expect(await refund("b")).toMatchObject(expected);
  });

  test("returns not_sent without a commit when no slot becomes free in time", async () => {
    isHeld = () => true;
    const calls = Array.from({ length: 16 }, () => refund("busy"));
    await expect.poll(() => received.length).toBe(16);
    let commits = 0;
    const order = { businessId: "busy", orderId: "busy", amountMinor: 1n };
    expect(await processor.refund(order, 50, async () => ++commits > 0)).toMatchObject({ kind: "not_sent" });
    expect(commits).toBe(0);
    dropHeld();
    await Promise.all(calls);
  });
});
