import { randomBytes } from "node:crypto";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { createLogger, startTracing, uuidv7 } from "@amana/runtime";
import { type Collector, startCollector } from "@amana/runtime/test/collector";
import { expect, test } from "vitest";
import { startTestGateway } from "../../test/harness.ts";

const logger = createLogger("test", "silent");

async function collectSpans(traceRatio: number, requests: readonly { method: "GET" | "POST"; url: string }[]) {
  await using collector: Collector = await startCollector();
  const tracing = await startTracing(
    { url: `${collector.url}/v1/traces`, headers: {}, certificateAuthority: undefined },
    "tests",
    logger,
  );
  await using gateway = await startTestGateway({ traceRatio });
  gateway.behaviour.payments.getPayment = async ({ id }) => ({ id, currency: "DZD", status: PaymentStatus.PAID });
  const headers = { ...gateway.business.headers, "x-request-id": "request-1", traceparent };
  for (const request of requests) await gateway.app.inject({ ...request, headers });
  await tracing[Symbol.asyncDispose]();
  return { ...collector, business: gateway.business };
}

const randomHex = (bytes: number) => randomBytes(bytes).toString("hex");
const traceparent = `00-${randomHex(16)}-${randomHex(8)}-01`;
const id = uuidv7();

test("the spans of a sampled request form a chain: the caller's span, the gateway's request, the gateway's RPC, the service's RPC", async () => {
  const { spans, bodies, business } = await collectSpans(1, [{ method: "GET", url: `/api/v1/payments/${id}` }]);
  expect(spans.map(({ name, kind }) => `${kind} ${name}`)).toEqual([
    "server PaymentService/GetPayment",
    "client PaymentService/GetPayment",
    "server GET /api/v1/payments/{id}",
  ]);
  const [serviceSpan, rpcSpan, requestSpan] = spans;
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([traceparent.slice(3, 35)]));
  expect([requestSpan?.parentSpanId, rpcSpan?.parentSpanId, serviceSpan?.parentSpanId]).toEqual([
    traceparent.slice(36, 52),
    requestSpan?.spanId,
    rpcSpan?.spanId,
  ]);
  expect(requestSpan?.attributes).toEqual({
    "http.request.method": "GET",
    "http.route": "/api/v1/payments/:id",
    "http.response.status_code": 200,
    "amana.request_id": "request-1",
    "amana.business_id": business.businessId,
  });
  expect(serviceSpan?.attributes).toMatchObject({ "rpc.service": "payments.v1.PaymentService", "rpc.method": "GetPayment" });
  expect(bodies.join()).not.toContain(business.key);
});

test("the gateway marks only spans of internal errors as failed, and names the span of an unknown path after the method", async () => {
  const { spans, bodies } = await collectSpans(1, [
    { method: "GET", url: "/api/v1/clients/zz-made-up?secret=zz" },
    { method: "GET", url: `/api/v1/clients/${id}` },
    { method: "POST", url: "/zz-made-up" },
  ]);
  const requests = spans.filter(({ name }) => /^(GET|POST)/.test(name));
  expect(requests.map(({ name, isFailed }) => [name, isFailed])).toEqual([
    ["GET /api/v1/clients/{id}", false],
    ["GET /api/v1/clients/{id}", true],
    ["POST", false],
  ]);
  for (const text of ["secret", "zz"]) expect(bodies.join()).not.toContain(text);
  expect(spans.find(({ kind }) => kind === "client")).toMatchObject({
    isFailed: true,
    attributes: { "rpc.connect_rpc.error_code": "unimplemented", "error.type": "unimplemented" },
  });
});

test("the gateway sends no spans of an unsampled trace, even if the sampled flag is set in the caller's traceparent", async () => {
  const { spans, connections } = await collectSpans(0, [{ method: "GET", url: `/api/v1/payments/${id}` }]);
  expect([spans, connections]).toEqual([[], 0]);
});
