import net from "node:net";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../test/harness.ts";

let gateway: TestGateway;
let port: number;
beforeAll(async () => {
  gateway = await startTestGateway();
  port = Number(new URL(await gateway.app.listen({ host: "127.0.0.1", port: 0 })).port);
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** Sends raw bytes and returns the response bytes when the gateway closes the connection. */
function exchange(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, "127.0.0.1", () => socket.write(text));
    let response = "";
    socket.on("data", (chunk) => {
      response += chunk.toString();
    });
    socket.on("end", () => {
      socket.end();
      resolve(response);
    });
    socket.on("error", (error) => (response === "" ? reject(error) : resolve(response)));
  });
}

const paymentId = "019a0000-0000-7000-8000-000000000001";
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const statuses = (responses: string) => [...responses.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
const head = "POST /api/v1/payments HTTP/1.1\r\nHost: localhost\r\n";

describe("a malformed HTTP request", () => {
  test.each([
    ["both Content-Length and Transfer-Encoding", `${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ["two Content-Lengths that differ", `${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    ["a Content-Length that is not a number", `${head}Content-Length: two\r\n\r\n{}`],
    ["a bare line feed in a header", `${head}X-A: b\nX-B: c\r\n\r\n`],
    ["a space before the colon", `${head}X-A : b\r\n\r\n`],
    ["NUL in a header", `${head}X-A: \0\r\n\r\n`],
    ["a first line that is not HTTP", "hello\r\n\r\n"],
    ["no Host", "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n"],
  ])("the gateway returns a 400 problem document for a malformed HTTP request with %s", async (_name, text) => {
    const response = await exchange(text);
    expect(response).toMatch(/^HTTP\/1\.1 400 /);
    expect(response).toMatch(/content-type: application\/problem\+json\r\n/i);
    expect(response).toMatch(/x-request-id: [0-9a-f-]{36}\r\n/i);
    expect(JSON.parse(response.split("\r\n\r\n")[1] as string)).toMatchObject({ status: 400, code: "malformed_request" });
  });

  test("the gateway responds to a complete request even if a malformed HTTP request follows on the same connection", async () => {
    gateway.behaviour.payments.refundPayment = async () => ({ id: paymentId, currency: "DZD", status: PaymentStatus.REFUNDED });
    const refund =
      `POST /api/v1/payments/${paymentId}/refund HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${gateway.business.key}\r\n` +
      "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    const responses = await exchange(`${refund}${get("/healthz")}GARBAGE\r\n\r\n`);
    expect(gateway.received.map(({ rpc }) => rpc)).toEqual(["RefundPayment"]);
    expect(statuses(responses)).toEqual(["200", "200"]);
  });

  test("the gateway returns 400 immediately for a chunked body with invalid framing", async () => {
    const beginning = `${head}Authorization: Bearer ${gateway.business.key}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{`;
    expect(statuses(await exchange(`${beginning}}garbage\r\n`))).toEqual(["400"]);
  });

  test.each([17 * 1024, 100 * 1024])("the gateway returns 431 for a request with headers of %i bytes", async (length) => {
    const response = await exchange(`GET /healthz HTTP/1.1\r\nHost: a\r\nX-Large: ${"a".repeat(length)}\r\n\r\n`);
    expect(response).toMatch(/^HTTP\/1\.1 431 /);
    expect(JSON.parse(response.split("\r\n\r\n")[1] as string)).toMatchObject({ status: 431, code: "headers_too_large" });
  });

  test("the gateway returns 431 for a request with 101 headers, and accepts a request with 100 headers", async () => {
    const request = (headers: number) =>
      `GET /healthz HTTP/1.1\r\nHost: a\r\n${"X-A: \r\n".repeat(headers - 2)}Connection: close\r\n\r\n`;
    expect(statuses(await exchange(request(100)))).toEqual(["200"]);
    const response = await exchange(request(101));
    expect(statuses(response)).toEqual(["431"]);
    expect(response).toContain('"code":"headers_too_large"');
  });

  test("the gateway accepts a request with headers of 15 KiB", async () => {
    const response = await exchange(
      `GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Large: ${"a".repeat(15 * 1024)}\r\n\r\n`,
    );
    expect(response).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe("a request with Expect", () => {
  test("the gateway returns a 417 problem document with the request id for an Expect header other than 100-continue", async () => {
    const response = await exchange(`${head}Expect: wonders\r\nX-Request-Id: request-0001\r\nContent-Length: 2\r\n\r\n{}`);
    expect(response).toMatch(/^HTTP\/1\.1 417 /);
    expect(response).toMatch(/content-type: application\/problem\+json\r\n/i);
    expect(response).toMatch(/x-request-id: request-0001\r\n/i);
    const text = response.slice(response.indexOf("{"), response.lastIndexOf("}") + 1);
    expect(JSON.parse(text)).toMatchObject({ status: 417, code: "expectation_failed", request_id: "request-0001" });
  });

  test("the gateway returns 100 and then the response for a request with Expect: 100-continue", async () => {
    const response = await exchange("GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n");
    expect(response.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 100", "HTTP/1.1 200"]);
  });
});

describe("a request with several Authorization headers", () => {
  const send = (...keys: string[]) => {
    const lines = keys.map((key, i) => `${i === 0 ? "Authorization" : "authorization"}: Bearer ${key}\r\n`).join("");
    return exchange(`GET /api/v1/webhook-endpoints HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines}\r\n`);
  };

  test("the gateway returns 401 for a request with several different Authorization headers", async () => {
    gateway.behaviour.webhookEndpoints.listWebhookEndpoints = async () => ({ webhookEndpoints: [], total: 0 });
    const { key } = gateway.business;
    expect(await send(key, key)).toMatch(/^HTTP\/1\.1 200 /);
    const response = await send(key, gateway.aKey().key);
    expect(response).toMatch(/^HTTP\/1\.1 401 /);
    expect(response).toContain('"code":"invalid_api_key"');
  });
});

describe("a body that is too large", () => {
  test("the gateway returns 413 for a Content-Length beyond the limit before it checks the key, and keeps the connection open", async () => {
    const large = "a".repeat(1024 * 1024 + 1);
    const response = await exchange(
      `${head}Content-Type: application/json\r\nContent-Length: ${large.length}\r\n\r\n${large}` +
        "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    );
    expect(response.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 413", "HTTP/1.1 200"]);
  });

  test("the gateway returns 413 for a chunked body beyond the limit, and keeps the connection open", async () => {
    const chunk = `10000\r\n${"a".repeat(0x10000)}\r\n`;
    const response = await exchange(
      `${head}Authorization: Bearer ${gateway.business.key}\r\nContent-Type: application/json\r\n` +
        `Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(40)}0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    );
    expect(response.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 413", "HTTP/1.1 200"]);
  });
});
