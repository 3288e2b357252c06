import { DiagLogLevel, diag, ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import { AlwaysOnSampler, BatchSpanProcessor, type SpanExporter, TracerProvider } from "@opentelemetry/sdk-trace";
import { waitAtMost } from "../concurrency/time.ts";
import { uuidv7 } from "../values/uuid.ts";
import type { Logger } from "./logger.ts";
import type { BeginSpan, Span } from "./span.ts";
import { inTrace } from "./trace.ts";
import type { TracingSettings } from "./tracing-settings.ts";

/**
 * Maximum number of spans that the collector has not confirmed. It limits the memory; further spans
 * are dropped.
 */
const unsentMax = 4_096;
/**
 * Maximum number of spans in a batch. Encoding such a batch blocks the event loop for about a
 * millisecond.
 */
const batchMax = 256;
const scheduleDelayMs = 2_000;
const stopMs = 3_000;
const warnMs = 60_000;

const kinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

/**
 * Creates spans with the OpenTelemetry SDK and exports them in batches by OTLP over HTTP with JSON.
 * Disposing exports the last spans, for at most three seconds.
 */
export function createTracer(
  { url, headers, certificateAuthority }: TracingSettings,
  service: string,
  logger: Logger,
  /**
   * Counter of spans by outcome. The caller creates it, because it is exported even without the
   * SDK.
   */
  spans: { inc(labels: { outcome: "sent" | "dropped" | "refused" }, count?: number): void },
): { begin: BeginSpan } & AsyncDisposable {
  let unsent = 0;
  let isStopped = false;
  let warnedAtMs = Number.NEGATIVE_INFINITY;

  const warn = (...reason: unknown[]) => {
    if (performance.now() - warnedAtMs < warnMs) return;
    warnedAtMs = performance.now();
    logger.warn({ reason: reason.join(" ").slice(0, 1_000), unsent }, "span export failed");
  };
  const ignoreMessage = () => {};
  diag.setLogger(
    { error: warn, warn, info: ignoreMessage, debug: ignoreMessage, verbose: ignoreMessage },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );

  const otlp = new OTLPTraceExporter({
    url,
    headers,
    httpAgentOptions: { keepAlive: true, maxSockets: 1, ...(certificateAuthority && { ca: certificateAuthority }) },
  });
  const exporter: SpanExporter = {
    shutdown: () => otlp.shutdown(),
    export(batch, done) {
      // A batch contains spans of many traces.
      inTrace(undefined, () =>
        otlp.export(batch, (result) => {
          if (!isStopped) {
            unsent -= batch.length;
            spans.inc({ outcome: outcomeOf(result.error) }, batch.length);
          }
          done(result);
        }),
      );
    },
  };
  const provider = new TracerProvider({
    // The gateway has made the sampling decision (see `beginSpan`).
    sampler: new AlwaysOnSampler(),
    resource: defaultResource().merge(
      resourceFromAttributes({
        "service.name": service,
        "service.namespace": "amana",
        "service.instance.id": uuidv7(),
      }),
    ),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: unsentMax,
        maxExportBatchSize: batchMax,
        scheduledDelayMillis: scheduleDelayMs,
      }),
    ],
  });
  const tracer = provider.getTracer("amana");

  return {
    begin(kind, name, parent, { attributes, startMs, root = false } = {}): Span {
      const isRemote = kind === "server" || kind === "consumer";
      const [traceId, spanId] = [parent.slice(3, 35), parent.slice(36, 52)];
      const span = tracer.startSpan(
        name,
        // The SDK interprets a number before the start of the process as performance.now().
        { kind: kinds[kind], root, ...(attributes && { attributes }), ...(startMs && { startTime: new Date(startMs) }) },
        trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote }),
      );
      const context = span.spanContext();
      const fail = (errorType: string) =>
        void span.setAttribute("error.type", errorType).setStatus({ code: SpanStatusCode.ERROR });
      return {
        traceparent: `00-${context.traceId}-${context.spanId}-01`,
        set: (attributes) => void span.setAttributes(attributes),
        fail,
        end(failure) {
          if (failure !== undefined) fail(failure);
          if (isStopped || unsent >= unsentMax) return spans.inc({ outcome: "dropped" });
          unsent++;
          span.end();
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await waitAtMost(
        stopMs,
        provider.shutdown().catch(() => {}),
      );
      isStopped = true;
      spans.inc({ outcome: "dropped" }, unsent);
      if (unsent > 0) logger.warn({ dropped: unsent }, "spans dropped at stop");
    },
  };
}

/**
 * Returns the outcome of an export. An error with an HTTP status means that the collector refused
 * the spans, because the exporter retries temporary errors.
 */
const outcomeOf = (error: (Error & { code?: unknown }) | undefined) =>
  error === undefined ? "sent" : typeof error.code === "number" ? "refused" : "dropped";
