export type SpanKind = "internal" | "server" | "client" | "producer" | "consumer";

/**
 * Attributes of a span: ids and fixed words. They must not contain personal data, bodies, secrets,
 * or URLs beyond the host.
 */
type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

/** Work in progress, which is part of the work of its parent. `end` must be called once. */
export interface Span {
  /** Trace context that spans and calls within this work use as their parent. */
  readonly traceparent: string;
  set(attributes: SpanAttributes): void;
  /**
   * Marks the span as failed, with a fixed word as error type. Do not call it for rejected
   * requests.
   */
  fail(errorType: string): void;
  /** Ends the span. Marks it as failed if an error type is given. */
  end(failure?: string): void;
}

export interface SpanOptions {
  readonly attributes?: SpanAttributes;
  /** Start of the work in Unix milliseconds. Default: now. */
  readonly startMs?: number;
  /** Begins a new trace. The parent only determines whether the new trace is sampled. */
  readonly root?: boolean;
}

export type BeginSpan = (kind: SpanKind, name: string, parent: string, options?: SpanOptions) => Span;
