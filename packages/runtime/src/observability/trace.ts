import { AsyncLocalStorage } from "node:async_hooks";

/** What work belongs to: the trace of what set it off, and the request, where there was one. */
export interface Trace {
  /** W3C Trace Context, level 1; empty when nothing is known. */
  readonly traceparent: string;
  readonly requestId?: string | undefined;
}

const current = new AsyncLocalStorage<Trace | undefined>();

/** Does work that belongs to a trace, or to none: lines that are logged meanwhile say which. */
export const inTrace = <T>(trace: Trace | undefined, work: () => T): T => current.run(trace, work);

export const currentTrace = (): Trace | undefined => current.getStore();

/** Undefined for a traceparent that is none. */
export const traceIdOf = (traceparent: string): string | undefined => traceparent.slice(3, 35) || undefined;

/** The fields by which a line is found again. Empty outside of any trace. */
export function traceFields(): { trace_id?: string | undefined; request_id?: string | undefined } {
  const trace = current.getStore();
  return trace ? { trace_id: traceIdOf(trace.traceparent), request_id: trace.requestId || undefined } : {};
}
