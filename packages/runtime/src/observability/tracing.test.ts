import { afterEach, expect, test } from "vitest";
import { type Collector, startCollector } from "../../test/collector.ts";
import { createLogger, currentTrace, type EnvSource, inTrace, readEnv, readTracing, type SettingsError } from "../index.ts";
import { beginSpan, inSpan, spans, startTracing } from "./tracing.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentId = "00f067aa0ba902b7";
const sampled = `00-${traceId}-${parentId}-01`;
const lines: { level: number; msg: string }[] = [];
const logger = createLogger("test", "info", { write: (line) => void lines.push(JSON.parse(line)) });
const settingsOf = (source: EnvSource) => readEnv((env) => ({ tracing: readTracing(env) }), source).tracing;

let stack: AsyncDisposableStack;
const stop = async () => await stack?.disposeAsync();
afterEach(stop);

async function start(collector: Pick<Collector, "url">, source: EnvSource = {}): Promise<void> {
  stack = new AsyncDisposableStack();
  const settings = settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...source });
  if (!settings) throw new Error("tracing is off");
  stack.use(await startTracing(settings, "tests", logger));
}
const outcomes = async () => {
  const { values } = await spans.get();
  return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]));
};

test("inSpan runs its callback in the current trace and creates no span if there is no span collector", async () => {
  expect(settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: "", OTEL_EXPORTER_OTLP_HEADERS: "x=y" })).toBeUndefined();
  expect(beginSpan("client", "a", sampled)).toBeUndefined();
  const trace = { traceparent: sampled, requestId: "request-1" };
  expect(await inTrace(trace, () => inSpan("client", "a", async (span) => [span, currentTrace()]))).toEqual([undefined, trace]);
});

test("inSpan exports a span of a sampled trace with its parent and attributes, and no span of an unsampled trace", async () => {
  await using collector = await startCollector();
  await start(collector);
  const inner = () => inSpan("client", "inner", async (span) => span?.set({ "amana.event_id": "e", "amana.attempt": 2 }));
  const failing = () => inSpan("internal", "failing", async () => Promise.reject(new Error("secret detail")));
  await inTrace({ traceparent: sampled, requestId: "request-1" }, async () => {
    await inSpan("server", "outer", async () => {
      expect(currentTrace()).toMatchObject({ traceparent: expect.stringContaining(traceId), requestId: "request-1" });
      await inner();
      await failing().catch(() => {});
    });
  });
  await inTrace({ traceparent: `${sampled.slice(0, -1)}0` }, inner);
  await inTrace(undefined, inner);
  beginSpan("server", "root", sampled, { root: true, startMs: 1e12 })?.end("503");
  await stop();

  const [innerSpan, failingSpan, outer, root] = collector.spans;
  expect(collector.spans).toHaveLength(4);
  expect(outer).toMatchObject({
    service: "tests",
    name: "outer",
    kind: "server",
    traceId,
    parentSpanId: parentId,
    isFailed: false,
  });
  expect(innerSpan).toMatchObject({
    name: "inner",
    kind: "client",
    traceId,
    parentSpanId: outer?.spanId,
    attributes: { "amana.event_id": "e", "amana.attempt": 2 },
  });
  expect(failingSpan).toMatchObject({
    name: "failing",
    parentSpanId: outer?.spanId,
    isFailed: true,
    attributes: { "error.type": "error" },
  });
  expect(root).toMatchObject({ parentSpanId: undefined, startMs: 1e12, isFailed: true, attributes: { "error.type": "503" } });
  expect([root?.traceId, root?.spanId]).not.toContain(undefined);
  expect(root?.traceId).not.toBe(traceId);
  for (const { startMs, endMs } of collector.spans) expect(endMs).toBeGreaterThanOrEqual(startMs);
  expect(outer?.startMs).toBeLessThanOrEqual(innerSpan?.startMs ?? 0);
  expect(collector.bodies.join()).not.toContain("secret detail");
});

test("startTracing exports each span once when the span collector is available again after an outage", async () => {
  await using collector = await startCollector();
  collector.responseStatus = 503;
  await start(collector);
  for (let i = 0; i < 300; i++) beginSpan("client", `span ${i}`, sampled)?.end();
  await expect.poll(() => collector.headers.length).toBeGreaterThan(0);
  collector.responseStatus = 200;
  await stop();
  expect(new Set(collector.spans.map(({ name }) => name)).size).toBe(300);
  expect(collector.spans).toHaveLength(300);
});

test.each(["hang", 400, 503, "unreachable"] as const)(
  "inSpan does not wait for a span collector that fails (%s), and queues at most 4 096 spans",
  async (behavior) => {
    await using collector = await startCollector();
    if (behavior !== "unreachable") collector.responseStatus = behavior;
    lines.length = 0;
    await start(behavior === "unreachable" ? { url: "http://127.0.0.1:1" } : collector);
    const initialCounts = await outcomes();
    const spansCount = 10_000;
    let runs = 0;
    for (let i = 0; i < spansCount; i++) {
      await inTrace({ traceparent: sampled }, () => inSpan("client", "a", async () => runs++));
    }
    expect(runs).toBe(spansCount);
    const droppedEarly = (await outcomes())["dropped"] ?? 0;
    expect(droppedEarly - (initialCounts["dropped"] ?? 0)).toBe(spansCount - 4_096);
    if (behavior === 400)
      await expect.poll(async () => (await outcomes())["refused"]).toBeGreaterThan(initialCounts["refused"] ?? 0);
    await stop();
    const finalCounts = await outcomes();
    const increase = (outcome: string) => (finalCounts[outcome] ?? 0) - (initialCounts[outcome] ?? 0);
    expect(increase("sent")).toBe(0);
    expect(increase("dropped") + increase("refused")).toBe(spansCount);
    expect(lines.filter(({ msg }) => msg === "span export failed").length).toBeLessThanOrEqual(1);
    expect(beginSpan("client", "a", sampled)).toBeUndefined();
  },
);

test.each([
  ["-1 refused spans", '{"partialSuccess":{"rejectedSpans":"-1"}}'],
  ["more refused spans than it received", '{"partialSuccess":{"rejectedSpans":"1000000000"}}'],
  ["no refused spans (body null)", "null"],
  ["no refused spans (body of 100 000 bytes)", "x".repeat(100_000)],
])("startTracing exports each span once when the span collector's response reports %s", async (_, text) => {
  await using collector = await startCollector();
  collector.responseBody = text;
  await start(collector);
  const initialCounts = await outcomes();
  for (let i = 0; i < 300; i++) beginSpan("client", `span ${i}`, sampled)?.end();
  await expect.poll(() => collector.spans.length).toBeGreaterThan(0);
  await stop();
  expect(collector.spans).toHaveLength(300);
  const finalCounts = await outcomes();
  const increase = (outcome: string) => (finalCounts[outcome] ?? 0) - (initialCounts[outcome] ?? 0);
  expect([increase("sent") + increase("refused"), increase("dropped")]).toEqual([300, 0]);
});

test("startTracing logs a warning when the span collector reports rejected spans in a response with status 200", async () => {
  await using collector = await startCollector();
  collector.responseBody = '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too large"}}';
  lines.length = 0;
  await start(collector);
  beginSpan("client", "a", sampled)?.end();
  await stop();
  expect(lines).toEqual([expect.objectContaining({ level: 40, reason: expect.stringContaining("too large") })]);
});

test("readTracing rejects invalid settings with problems that do not contain header values", () => {
  const problemsOf = (source: EnvSource) => {
    try {
      settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318/", ...source });
      return [];
    } catch (error) {
      return (error as SettingsError).problems;
    }
  };
  expect(
    settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: "https://c.example/x/", OTEL_EXPORTER_OTLP_HEADERS: "a=b%20c, d=e=" }),
  ).toEqual({
    url: "https://c.example/x/v1/traces",
    headers: { a: "b c", d: "e=" },
    certificateAuthority: undefined,
  });
  expect(problemsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317" })).toHaveLength(1);
  expect(problemsOf({ OTEL_EXPORTER_OTLP_CERTIFICATE: "/nowhere/ca.pem" })).toHaveLength(1);
  expect(problemsOf({ NODE_ENV: "production" })).toEqual([]);
  expect(problemsOf({ NODE_ENV: "production", OTEL_EXPORTER_OTLP_HEADERS: "a=b" })).toHaveLength(1);
  for (const headers of ["a secret", "a=b%0d%0ac", "a=%E0%A4", "=secret"]) {
    const problems = problemsOf({ OTEL_EXPORTER_OTLP_HEADERS: headers });
    expect(problems).toHaveLength(1);
    expect(problems.join()).not.toContain("secret");
  }
});
