export type SpanKind = "internal" | "server" | "client" | "producer" | "consumer";

/** Ids and fixed words. Never personal data, a body or a secret; of a URL only the host. */
type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

/** Work in progress, as part of its parent. End it once. */
export interface Span {
  /** The parent of spans and calls that belong to this work. */
  readonly traceparent: string;
  set(attributes: SpanAttributes): void;
  /** Marks the span as failed with a fixed word. A rejected request is no failure. */
  fail(word: string): void;
  /** Ends the span, as failed if a word is given. */
  end(failure?: string): void;
}

export interface SpanOptions {
  readonly attributes?: SpanAttributes;
  /** Unix milliseconds, if the work began earlier. */
  readonly startMs?: number | undefined;
  /** Begins a new trace; the parent only decides whether it is sampled. */
  readonly root?: boolean;
}

export type BeginSpan = (kind: SpanKind, name: string, parent: string, options?: SpanOptions) => Span;
