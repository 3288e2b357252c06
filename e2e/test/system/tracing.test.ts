import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "@amana/dev-env/eventually";
import { serviceNames, servicesWithDatabase } from "@amana/dev-env/services";
import { type CollectedSpan, type Collector, startCollector } from "@amana/runtime/test/collector";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  aBusiness,
  aPaidPayment,
  callSandbox,
  startTestSystem,
  type TestBusiness,
  type TestSystem,
  validCard,
} from "../../src/test-system.ts";
import { otelCollectorPath, readByOtelCollector } from "./otel-collector.ts";

const aTraceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const callerSpanId = "00f067aa0ba902b7";

/** Permitted attributes. The value of a new attribute must be an id or a constant of Amana. */
const knownAttributes = new Set([
  ...["http.request.method", "http.route", "http.response.status_code", "server.address", "error.type", "peer.service"],
  ...["rpc.system", "rpc.service", "rpc.method", "rpc.connect_rpc.error_code"],
  ...["messaging.destination.name", "messaging.operation.type", "messaging.message.id", "messaging.consumer.group.name"],
  ...["amana.request_id", "amana.business_id", "amana.refund_id", "amana.payment_id", "amana.kyc_application_id"],
  ...["amana.delivery_id", "amana.event_id", "amana.event_type", "amana.endpoint_id", "amana.attempt", "amana.outcome"],
]);

let collector: Collector;
let testSystem: TestSystem;
let business: TestBusiness;
beforeAll(async () => {
  collector = await startCollector();
  const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, TRACE_RATIO: "1", LOG_LEVEL: "debug" };
  testSystem = await startTestSystem("kafka", Object.fromEntries(serviceNames.map((name) => [name, settings])));
  business = await aBusiness(testSystem.system);
  await business.call("PATCH", `/api/v1/webhook-endpoints/${business.endpointId}`, {
    url: `${business.receiver.url}/zz-path?zz-query=1`,
  });
});
afterAll(async () => {
  await business?.receiver[Symbol.asyncDispose]();
  await testSystem?.[Symbol.asyncDispose]();
  await collector?.[Symbol.asyncDispose]();
});

const spansOf = (traceId: string) => collector.spans.filter((span) => span.traceId === traceId);
/** Returns the names of a span's recorded ancestors and of the span, the oldest first. */
function findPath(span: CollectedSpan | undefined): string[] {
  if (!span) return [];
  const parent = collector.spans.find(({ traceId, spanId }) => traceId === span.traceId && spanId === span.parentSpanId);
  return [...findPath(parent), `${span.service}: ${span.kind} ${span.name}`];
}
const refund = (paymentId: string, traceparent: string) =>
  business.call("POST", `/api/v1/payments/${paymentId}/refund`, undefined, { traceparent, "x-request-id": "a-refund-of-a-test" });
const findSpan = (traceId: string, name: string) => spansOf(traceId).find((span) => span.name === name);

test("the spans of a refund form one trace from the request to the webhook attempt", async () => {
  const { id } = await aPaidPayment(testSystem.system, business);
  const { status } = await refund(id, `00-${aTraceId}-${callerSpanId}-00`);
  expect(status).toBe(200);
  await business.receiver.next("PAYMENT_REFUNDED", id, 90_000);
  await eventually(() => {
    expect(findPath(findSpan(aTraceId, "POST webhook"))).toEqual([
      "gateway: server POST /api/v1/payments/{id}/refund",
      "gateway: client PaymentService/RefundPayment",
      "payments: server PaymentService/RefundPayment",
      "payments: producer send payments.v1",
      "webhooks: consumer process payments.v1",
      "webhooks: client POST webhook",
    ]);
    for (const operation of ["status", "refund"]) {
      expect(findPath(findSpan(aTraceId, `card processor ${operation}`))).toEqual([
        "gateway: server POST /api/v1/payments/{id}/refund",
        "gateway: client PaymentService/RefundPayment",
        "payments: server PaymentService/RefundPayment",
        `payments: client card processor ${operation}`,
      ]);
    }
  });

  const spans = spansOf(aTraceId);
  expect(spans.filter(({ isFailed }) => isFailed)).toEqual([]);
  expect(spans.filter(({ parentSpanId }) => parentSpanId === callerSpanId)).toHaveLength(1);
  const ids = new Set([callerSpanId, ...spans.map(({ spanId }) => spanId)]);
  expect(ids.size).toBe(spans.length + 1);
  for (const span of spans) {
    expect(ids.has(span.parentSpanId ?? "")).toBe(true);
    expect(span.endMs).toBeGreaterThanOrEqual(span.startMs);
    // All processes use the clock of one machine, so no span starts long before its parent.
    const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
    expect(span.startMs).toBeGreaterThan((parent?.startMs ?? 0) - 50);
  }
  expect(findSpan(aTraceId, "POST webhook")?.attributes).toMatchObject({
    "http.response.status_code": 204,
    "server.address": "127.0.0.1",
    "amana.endpoint_id": business.endpointId,
    "amana.business_id": business.id,
    "amana.event_type": "PAYMENT_REFUNDED",
    "amana.attempt": 1,
  });
});

test("the spans of a background task that resolves a refund with an unknown outcome belong to the trace of the refund request", async () => {
  const traceId = aTraceId.replace("4bf9", "5bf9");
  const { id } = await aPaidPayment(testSystem.system, business);
  await callSandbox(testSystem.system, "PUT", "/sandbox/faults", { operation: "refund", mode: "timeout_after", times: 1 });
  await refund(id, `00-${traceId}-${callerSpanId}-01`);
  await business.receiver.next("PAYMENT_REFUNDED", id, 90_000);
  await eventually(() => {
    const steps = spansOf(traceId).filter(({ name }) => name === "resolve-refunds");
    expect(steps.length).toBeGreaterThan(0);
    expect(findPath(steps[0])).toEqual([
      "gateway: server POST /api/v1/payments/{id}/refund",
      "gateway: client PaymentService/RefundPayment",
      "payments: server PaymentService/RefundPayment",
      "payments: internal resolve-refunds",
    ]);
    const statusReads = spansOf(traceId).filter(
      ({ name, parentSpanId }) => /status$/.test(name) && parentSpanId === steps[0]?.spanId,
    );
    expect(statusReads.length).toBeGreaterThan(0);
    expect(findSpan(traceId, "card processor refund")).toMatchObject({
      isFailed: true,
      attributes: { "amana.outcome": "unknown" },
    });
    expect(findSpan(traceId, "POST webhook")).toBeDefined();
  });
});

test("the gateway and the payments service log the trace id and the request id of a refund request", async () => {
  const linesOf = async (name: string) =>
    (await readFile(join(testSystem.system.logDir, `${name}.log`), "utf8"))
      .split("\n")
      .filter((line) => line.includes(aTraceId))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const expectedIds = { trace_id: aTraceId, request_id: "a-refund-of-a-test" };
  expect(await linesOf("gateway")).toMatchObject([{ ...expectedIds, msg: "request", route: "/api/v1/payments/:id/refund" }]);
  expect(await linesOf("payments")).toEqual(
    expect.arrayContaining([expect.objectContaining({ ...expectedIds, msg: "refund accepted" })]),
  );
  expect(await linesOf("webhooks")).toEqual(
    expect.arrayContaining([expect.objectContaining({ trace_id: aTraceId, msg: "delivery succeeded" })]),
  );
});

test("exported spans contain no secrets, card data, personal data or message bodies, and have fewer than 60 different names", async () => {
  await business.call("POST", "/api/v1/kyc/applications", { external_id: "zz-external", metadata: { note: "zz-note" } });
  await business.call("GET", "/api/v1/payments?order_ref=zz-search");
  await business.call("GET", "/api/v1/zz-address/zz-more");
  await business.call("GET", "/api/v1/clients");
  await eventually(() => {
    expect(new Set(collector.spans.map(({ service }) => service))).toEqual(new Set(["gateway", ...servicesWithDatabase]));
    expect(collector.spans.some(({ name }) => name === "verification provider create")).toBe(true);
  });
  const keys = new Set(collector.spans.flatMap(({ attributes }) => Object.keys(attributes)));
  expect([...keys].filter((key) => !knownAttributes.has(key))).toEqual([]);
  const exportedText = collector.bodies.join("\n");
  const secrets = [business.key, business.secret, testSystem.system.adminKey, validCard.pan, validCard.password];
  for (const word of [...secrets, "zz-", "shop.example", "Épicerie", "Bearer", "userName"])
    expect(exportedText).not.toContain(word);
  const names = new Set(collector.spans.map(({ name }) => name));
  expect(names.size).toBeLessThan(60);
  for (const name of names) expect(name).not.toMatch(/[0-9a-f]{8}-|\d{4}/);
});

test.skipIf(!otelCollectorPath)(
  "an OpenTelemetry collector reads the id, parent, kind, times and attributes of every exported span",
  async () => {
    const sentSpans = [...collector.spans];
    const parsedSpans = await readByOtelCollector([...collector.bodies]);
    const roundToMillis = (span: CollectedSpan) => ({
      ...span,
      startMs: Math.floor(span.startMs),
      endMs: Math.floor(span.endMs),
    });
    expect(parsedSpans.map(roundToMillis)).toEqual(sentSpans.map(roundToMillis));
    expect(parsedSpans.filter(({ isFailed }) => isFailed).length).toBeGreaterThan(0);
  },
);

test.each(["hang", 503] as const)(
  "API requests succeed while the span collector hangs or returns an error: %s",
  async (behaviour) => {
    collector.responseStatus = behaviour;
    try {
      for (let i = 0; i < 3; i++) {
        const { id } = await aPaidPayment(testSystem.system, business);
        const { status } = await business.call("POST", `/api/v1/payments/${id}/refund`);
        expect(status).toBe(200);
        expect(await business.receiver.next("PAYMENT_REFUNDED", id, 90_000)).toBeDefined();
      }
    } finally {
      collector.responseStatus = 200;
    }
  },
);
