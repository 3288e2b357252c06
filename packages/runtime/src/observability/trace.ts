import { AsyncLocalStorage } from "node:async_hooks";

/** Trace and request to which work belongs. */
export interface Trace {
  /** W3C Trace Context, level 1; empty without a trace. */
  readonly traceparent: string;
  readonly requestId?: string;
}

const current = new AsyncLocalStorage<Trace | undefined>();

/**
 * Runs work in a trace, or without a trace if `trace` is undefined. The log lines of the work
 * contain the ids of the trace.
 */
export const inTrace = <T>(trace: Trace | undefined, work: () => T): T => current.run(trace, work);

export const currentTrace = (): Trace | undefined => current.getStore();

/** Returns the trace id of a traceparent, or undefined if the traceparent is empty. */
export const traceIdOf = (traceparent: string): string | undefined => traceparent.slice(3, 35) || undefined;

/** Returns the log fields of the current trace, or no fields if there is no trace. */
export function traceFields(): { trace_id?: string; request_id?: string } {
  const trace = current.getStore();
  return trace ? { trace_id: traceIdOf(trace.traceparent), request_id: trace.requestId || undefined } : {};
}
