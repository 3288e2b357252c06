import type { Logger } from "./logger.ts";
import { counter } from "./metrics.ts";
import type { BeginSpan, Span, SpanKind, SpanOptions } from "./span.ts";
import { currentTrace, inTrace } from "./trace.ts";
import type { TracingSettings } from "./tracing-settings.ts";

export const spans = counter({
  name: "amana_spans_total",
  help: "Spans of sampled traces: sent, dropped (the collector is unavailable or slow), or refused by the collector",
  labels: { outcome: ["sent", "dropped", "refused"] },
});

/** Function that begins spans. Undefined while tracing is off. */
let begin: BeginSpan | undefined;

/**
 * Exports the spans of this process to the collector until disposed. Loads the OpenTelemetry SDK on
 * demand, because the SDK needs memory, and CPU time at start.
 */
export async function startTracing(settings: TracingSettings, service: string, logger: Logger): Promise<AsyncDisposable> {
  const { createTracer } = await import("./opentelemetry.ts");
  const tracer = createTracer(settings, service, logger, spans);
  begin = tracer.begin;
  return {
    async [Symbol.asyncDispose]() {
      begin = undefined;
      await tracer[Symbol.asyncDispose]();
    },
  };
}

/** Returns the sampling decision of the gateway, which is in the flags (W3C Trace Context). */
const isSampled = (traceparent: string): boolean => traceparent.endsWith("-01");

/**
 * Begins a span. Returns undefined if tracing is off or the parent's trace is not sampled. `name`
 * must be from a small set, such as route patterns, RPCs or topics.
 */
export function beginSpan(kind: SpanKind, name: string, parent: string | undefined, options?: SpanOptions): Span | undefined {
  if (!begin || parent === undefined || !isSampled(parent)) return undefined;
  return begin(kind, name, parent, options);
}

/**
 * Runs work in the current trace, with a new span if the trace is sampled. The span is marked as
 * failed if the work throws.
 */
export async function inSpan<T>(kind: SpanKind, name: string, work: (span: Span | undefined) => Promise<T>): Promise<T> {
  const trace = currentTrace();
  const span = beginSpan(kind, name, trace?.traceparent);
  if (!span) return await work(undefined);
  try {
    const result = await inTrace({ traceparent: span.traceparent, requestId: trace?.requestId }, () => work(span));
    span.end();
    return result;
  } catch (error) {
    span.end("error");
    throw error;
  }
}
