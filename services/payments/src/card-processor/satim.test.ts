import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { CardProcessor } from "./card-processor.ts";
import { createSatim } from "./satim.ts";

/** Selects the calls to which the simulated processor does not respond. */
let isHeld: (path: string, orderId: string) => boolean;
let receivedCalls: string[];
let refundResponse: () => object;
const heldResponses: ServerResponse[] = [];
const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
  const form = new URLSearchParams(await text(request));
  const path = request.url ?? "";
  const order = form.get("orderId") ?? form.get("mdOrder") ?? form.get("description") ?? "";
  receivedCalls.push(`${path.slice(1, 4)} ${order}`);
  if (isHeld(path, order)) return heldResponses.push(response);
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
  receivedCalls = [];
  refundResponse = () => ({ errorCode: 0 });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  processor = createSatim({ url, userName: "u", password: "p", terminalId: "t", timeoutMs: 20_000, connectTimeoutMs: 2_000 });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
const dropHeldResponses = () => {
  for (const response of heldResponses.splice(0)) response.destroy();
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
const readStatus = (businessId: string) => processor.status({ businessId, orderId: businessId }, 20_000);
const confirm = (businessId: string) => processor.confirm({ businessId, orderId: businessId, language: "FR" }, 20_000);
const refund = (businessId: string) =>
  processor.refund({ businessId, orderId: businessId, amountMinor: 1n }, 20_000, async () => true);
const repeat100Times = (work: () => Promise<unknown>) => Array.from({ length: 100 }, work);

describe("createSatim with a hundred calls of one business without a response", () => {
  test.each([
    ["registrations", 8, register],
    ["reads", 16, readStatus],
    ["refunds", 16, refund],
  ] as const)(
    "the Satim client executes %s of one business while another business has its maximum of %i calls in flight",
    async (_kind, slots, call) => {
      isHeld = (_path, order) => order === "busy";
      const callResults = repeat100Times(() => call("busy"));
      expect(await call("other")).toMatchObject({ kind: "accepted" });
      expect(receivedCalls.filter((line) => line.endsWith("busy"))).toHaveLength(slots);
      expect(processor.isQueueFull("busy", "registrations")).toBe(call === register);
      expect(processor.isQueueFull("busy", "reads")).toBe(call === readStatus);
      expect(processor.isQueueFull("other", "reads")).toBe(false);
      expect(processor.isQueueFull("other", "registrations")).toBe(false);
      isHeld = () => false;
      dropHeldResponses();
      await Promise.all(callResults);
    },
  );

  test("the Satim client executes a confirm while registrations and refunds occupy all the slots for these calls", async () => {
    isHeld = (path) => path === "/register.do" || path === "/refund.do";
    const callResults = [
      ...repeat100Times(() => register("busy")),
      ...repeat100Times(() => refund("busy")),
      ...repeat100Times(() => register("other")),
    ];
    expect(await confirm("busy")).toMatchObject({ kind: "accepted" });
    isHeld = () => false;
    dropHeldResponses();
    await Promise.all(callResults);
  });
});

describe("createSatim, refund", () => {
  test("the Satim client sends ten refunds, and the read of the order before each refund, on one connection", async () => {
    let connectionCount = 0;
    const count = () => void connectionCount++;
    server.on("connection", count);
    for (let i = 0; i < 10; i++) {
      expect(await readStatus("b")).toMatchObject({ kind: "accepted" });
      expect(await refund("b")).toMatchObject({ kind: "accepted" });
    }
    server.off("connection", count);
    expect(connectionCount).toBe(1);
  });

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
    // A response to a read that the processor sent a second time.
    [{ errorCode: 0, orderStatus: 2 }, { kind: "unknown" }],
  ])("the Satim client's `refund`, for the response %j, returns the outcome %j", async (response, expectedOutcome) => {
    refundResponse = () => response;
    expect(await refund("b")).toMatchObject(expectedOutcome);
  });

  test("the Satim client's `refund` returns `not_sent` and does not call `commit` if no slot becomes free before the call's timeout", async () => {
    isHeld = () => true;
    const callResults = Array.from({ length: 16 }, () => refund("busy"));
    await expect.poll(() => receivedCalls.length).toBe(16);
    let commitCount = 0;
    const order = { businessId: "busy", orderId: "busy", amountMinor: 1n };
    expect(await processor.refund(order, 50, async () => ++commitCount > 0)).toMatchObject({ kind: "not_sent" });
    expect(commitCount).toBe(0);
    dropHeldResponses();
    await Promise.all(callResults);
  });
});
