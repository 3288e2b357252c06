import type { Histogram } from "prom-client";
import { secondsSince } from "./metrics.ts";
import { inSpan } from "./tracing.ts";

/** The metric for calls of an external system, and the name of this system. */
interface Calls {
  readonly durations: Histogram<"operation" | "outcome">;
  /** Name of the system in spans: "card processor". */
  readonly to: string;
}

/**
 * Returns a function that makes the call and measures it. Records the duration and outcome of each
 * call under the operation's name, and a span of the current trace. If the call throws, records
 * only the span.
 */
export const withCallMetrics =
  <Args extends unknown[], Outcome extends { readonly kind: string }>(
    { durations, to }: Calls,
    operation: string,
    call: (...args: Args) => Promise<Outcome>,
  ) =>
  async (...args: Args): Promise<Outcome> =>
    await inSpan("client", `${to} ${operation}`, async (span) => {
      const startedMs = performance.now();
      const outcome = await call(...args);
      durations.observe({ operation, outcome: outcome.kind }, secondsSince(startedMs));
      span?.set({ "peer.service": to, "amana.outcome": outcome.kind });
      // The effect of the call is unknown, which counts as a failure.
      if (outcome.kind === "unknown") span?.fail(outcome.kind);
      return outcome;
    });
