import { afterEach, expect, test } from "vitest";
import { type Collector, startCollector } from "../../test/collector.ts";
import { createLogger, currentTrace, type EnvSource, inTrace, readEnv, readTracing, type SettingsError } from "../index.ts";
import { beginSpan, spans, startTracing, traced } from "./tracing.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentId = "00f067aa0ba902b7";
const sampled = `00-${traceId}-${parentId}-01`;
const lines: { level: number; msg: string }[] = [];
const logger = createLogger("test", "info", { write: (line) => void lines.push(JSON.parse(line)) });
const settingsOf = (source: EnvSource) => readEnv((env) => ({ tracing: readTracing(env) }), source).tracing;

let stack: AsyncDisposableStack;
const stop = async () => await stack?.disposeAsync();
afterEach(stop);

async function start(collector: Pick<Collector, "url">, more: EnvSource = {}): Promise<void> {
  stack = new AsyncDisposableStack();
  const settings = settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...more });
  if (!settings) throw new Error("tracing is off");
  stack.use(await startTracing(settings, "tests", logger));
}
const outcomes = async () => {
  const { values } = await spans.get();
  return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]));
};

test("without an endpoint there are no spans, and work goes on in its trace", async () => {
  expect(settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: "", OTEL_EXPORTER_OTLP_HEADERS: "x=y" })).toBeUndefined();
  expect(beginSpan("client", "a", sampled)).toBeUndefined();
  const trace = { traceparent: sampled, requestId: "request-1" };
  expect(await inTrace(trace, () => traced("client", "a", async (span) => [span, currentTrace()]))).toEqual([undefined, trace]);
});

test("spans arrive whole, each below its parent, and those of traces that are not sampled do not", async () => {
  await using collector = await startCollector();
  await start(collector);
  const inner = () => traced("client", "inner", async (span) => span?.set({ "amana.event_id": "e", "amana.attempt": 2 }));
  const failing = () => traced("internal", "failing", async () => Promise.reject(new Error("of which nothing is told")));
  await inTrace({ traceparent: sampled, requestId: "request-1" }, async () => {
    await traced("server", "outer", async () => {
      expect(currentTrace()).toMatchObject({ traceparent: expect.stringContaining(traceId), requestId: "request-1" });
      await inner();
      await failing().catch(() => {});
    });
  });
  await inTrace({ traceparent: `${sampled.slice(0, -1)}0` }, inner);
  await inTrace(undefined, inner);
  beginSpan("server", "root", sampled, { root: true, startMs: 1e12 })?.end("503");
  await stop();

  const [of_inner, of_failing, outer, root] = collector.spans;
  expect(collector.spans).toHaveLength(4);
  expect(outer).toMatchObject({
    service: "tests",
    name: "outer",
    kind: "server",
    traceId,
    parentSpanId: parentId,
    isFailed: false,
  });
  expect(of_inner).toMatchObject({
    name: "inner",
    kind: "client",
    traceId,
    parentSpanId: outer?.spanId,
    attributes: { "amana.event_id": "e", "amana.attempt": 2 },
  });
  expect(of_failing).toMatchObject({
    name: "failing",
    parentSpanId: outer?.spanId,
    isFailed: true,
    attributes: { "error.type": "error" },
  });
  expect(root).toMatchObject({ parentSpanId: undefined, startMs: 1e12, isFailed: true, attributes: { "error.type": "503" } });
  expect([root?.traceId, root?.spanId]).not.toContain(undefined);
  expect(root?.traceId).not.toBe(traceId);
  for (const { startMs, endMs } of collector.spans) expect(endMs).toBeGreaterThanOrEqual(startMs);
  expect(outer?.startMs).toBeLessThanOrEqual(of_inner?.startMs ?? 0);
  expect(collector.bodies.join()).not.toContain("nothing is told");
});

test("a collector that comes back gets what was kept for it, once", async () => {
  await using collector = await startCollector();
  collector.answer = 503;
  await start(collector);
  for (let i = 0; i < 300; i++) beginSpan("client", `span ${i}`, sampled)?.end();
  await expect.poll(() => collector.headers.length).toBeGreaterThan(0);
  collector.answer = 200;
  await stop();
  expect(new Set(collector.spans.map(({ name }) => name)).size).toBe(300);
  expect(collector.spans).toHaveLength(300);
});

test.each(["hang", 400, 503, "nobody"] as const)(
  "work does not wait for a collector that answers with %s: spans are bounded and counted",
  async (answer) => {
    await using collector = await startCollector();
    if (answer !== "nobody") collector.answer = answer;
    lines.length = 0;
    await start(answer === "nobody" ? { url: "http://127.0.0.1:1" } : collector);
    const before = await outcomes();
    const made = 10_000;
    let ticks = 0;
    for (let i = 0; i < made; i++) {
      await inTrace({ traceparent: sampled }, () => traced("client", "a", async () => ticks++));
    }
    expect(ticks).toBe(made);
    const early = (await outcomes())["dropped"] ?? 0;
    expect(early - (before["dropped"] ?? 0)).toBe(made - 4_096);
    if (answer === 400) await expect.poll(async () => (await outcomes())["refused"]).toBeGreaterThan(before["refused"] ?? 0);
    await stop();
    const after = await outcomes();
    const of = (outcome: string) => (after[outcome] ?? 0) - (before[outcome] ?? 0);
    expect(of("sent")).toBe(0);
    expect(of("dropped") + of("refused")).toBe(made);
    expect(lines.filter(({ msg }) => msg === "spans cannot be sent to the collector").length).toBeLessThanOrEqual(1);
    expect(beginSpan("client", "a", sampled)).toBeUndefined();
  },
);

test.each([
  ["less than none", '{"partialSuccess":{"rejectedSpans":"-1"}}'],
  ["more than there were", '{"partialSuccess":{"rejectedSpans":"1000000000"}}'],
  ["nothing", "null"],
  ["more than is read", "x".repeat(100_000)],
])("a collector that takes spans and says that it refused %s gets each once, and nobody ends by it", async (_, text) => {
  await using collector = await startCollector();
  collector.text = text;
  await start(collector);
  const before = await outcomes();
  for (let i = 0; i < 300; i++) beginSpan("client", `span ${i}`, sampled)?.end();
  await expect.poll(() => collector.spans.length).toBeGreaterThan(0);
  await stop();
  expect(collector.spans).toHaveLength(300);
  const after = await outcomes();
  const of = (outcome: string) => (after[outcome] ?? 0) - (before[outcome] ?? 0);
  expect([of("sent") + of("refused"), of("dropped")]).toEqual([300, 0]);
});

test("logs that the collector rejected spans in a response with status 200", async () => {
  await using collector = await startCollector();
  collector.text = '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too large"}}';
  lines.length = 0;
  await start(collector);
  beginSpan("client", "a", sampled)?.end();
  await stop();
  expect(lines).toEqual([expect.objectContaining({ level: 40, reason: expect.stringContaining("too large") })]);
});

test("settings that cannot be meant are refused, and no problem repeats a header's value", () => {
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
