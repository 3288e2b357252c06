import type { Logger } from "./logger.ts";
import { counter } from "./metrics.ts";
import { currentTrace, inTrace, type Trace } from "./trace.ts";
import type { TracingSettings } from "./tracing-settings.ts";
import { randomHex } from "./uuid.ts";

export type SpanKind = "internal" | "server" | "client" | "producer" | "consumer";

/** Ids and words of ours. Never a text of a person, a body, a secret; of a URL its host alone. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

/** What was done, for whom it was part of, and how long it took. */
export interface FinishedSpan {
  readonly kind: SpanKind;
  /** One of few: a route's pattern, an RPC, a topic. */
  readonly name: string;
  /** Its own. */
  readonly traceparent: string;
  readonly parentId: string | undefined;
  /** Unix milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  /** Why it failed, as a word; undefined when it did not. A refusal is no failure. */
  readonly failure: string | undefined;
}

export const spans = counter({
  name: "amana_spans_total",
  help: "Spans of sampled traces: sent, dropped (too many waited for a collector that is away or slow), or refused by it",
  labels: { outcome: ["sent", "dropped", "refused"] },
});

/** Takes spans while tracing is on. */
let exporter: ({ take(span: FinishedSpan): void } & AsyncDisposable) | undefined;

/**
 * Sends the spans of this process to the collector from now on, until disposed, which sends the
 * last ones, for three seconds at most. The code for that is loaded here and nowhere else.
 */
export async function startTracing(settings: TracingSettings, service: string, logger: Logger): Promise<AsyncDisposable> {
  const { createSpanExporter } = await import("./span-exporter.ts");
  const started = createSpanExporter(settings, service, logger);
  exporter = started;
  return {
    async [Symbol.asyncDispose]() {
      exporter = undefined;
      await started[Symbol.asyncDispose]();
    },
  };
}

/** The gateway decides by these flags (W3C Trace Context); everybody behind it follows. */
const isSampled = (traceparent: string): boolean => traceparent.endsWith("-01");

/** Whether spans of this trace are kept. */
export const isTraced = (traceparent: string): boolean => exporter !== undefined && isSampled(traceparent);

/** Keeps a span of a trace that `isTraced`, made when its work was over. */
export function recordSpan(span: FinishedSpan): void {
  exporter?.take(span);
}

/** Work that is under way, as part of its parent. It has to be ended, once. */
export class Span {
  /** For what belongs to it. */
  readonly traceparent: string;
  readonly #kind: SpanKind;
  readonly #name: string;
  readonly #parent: string;
  readonly #startMs: number;
  #attributes: SpanAttributes;
  #failure: string | undefined;

  constructor(kind: SpanKind, name: string, parent: string, attributes: SpanAttributes, startMs: number) {
    this.traceparent = `${parent.slice(0, 36)}${randomHex(8)}${parent.slice(52)}`;
    this.#kind = kind;
    this.#name = name;
    this.#parent = parent;
    this.#attributes = attributes;
    this.#startMs = startMs;
  }

  set(attributes: SpanAttributes): void {
    this.#attributes = { ...this.#attributes, ...attributes };
  }

  /** It will have failed when it ends, with this word for why. */
  fail(word: string): void {
    this.#failure = word;
  }

  end(failure = this.#failure): void {
    recordSpan({
      kind: this.#kind,
      name: this.#name,
      traceparent: this.traceparent,
      parentId: this.#parent.slice(36, 52),
      startMs: this.#startMs,
      endMs: Math.max(this.#startMs, unixMs()),
      attributes: this.#attributes,
      failure,
    });
  }
}

/** Undefined, which costs nothing, unless tracing is on and the parent's trace is sampled. */
export function beginSpan(
  kind: SpanKind,
  name: string,
  parent: string | undefined,
  attributes?: SpanAttributes,
  startMs?: number,
): Span | undefined {
  if (parent === undefined || !isTraced(parent)) return undefined;
  return new Span(kind, name, parent, attributes ?? {}, startMs ?? unixMs());
}

/**
 * Does work as part of a trace, the current one unless given, in a span of its own where that is
 * sampled. Work that throws has failed; it may say more of the span itself.
 */
export async function traced<T>(
  kind: SpanKind,
  name: string,
  work: (span: Span | undefined) => Promise<T>,
  trace: Trace | undefined = currentTrace(),
): Promise<T> {
  const span = beginSpan(kind, name, trace?.traceparent);
  if (!span) return await inTrace(trace, () => work(undefined));
  try {
    const result = await inTrace({ traceparent: span.traceparent, requestId: trace?.requestId }, () => work(span));
    span.end();
    return result;
  } catch (error) {
    span.end("error");
    throw error;
  }
}

/** So long the two clocks are believed to go alike. */
const anchoredForMs = 10_000;
let anchoredAtMs = Number.NEGATIVE_INFINITY;
let originMs = 0;

/** Now, in Unix milliseconds with their fractions, which Date.now lacks. */
export function unixMs(): number {
  const now = performance.now();
  if (now - anchoredAtMs > anchoredForMs) {
    anchoredAtMs = now;
    originMs = Date.now() - now;
  }
  return originMs + now;
}
