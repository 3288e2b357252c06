import type { Histogram } from "prom-client";
import { secondsSince } from "./metrics.ts";
import { traced } from "./tracing.ts";

/** Calls of one kind to one other system. */
interface Calls {
  readonly durations: Histogram<"operation" | "outcome">;
  /** Whose system it is, as spans say it: "card processor". */
  readonly to: string;
}

/**
 * The same function; how long each call takes, and what it comes to, is kept under the operation's
 * name, and shown as a span of the current trace. One that throws is only the latter.
 */
export const timed =
  <Args extends unknown[], Outcome extends { readonly kind: string }>(
    { durations, to }: Calls,
    operation: string,
    call: (...args: Args) => Promise<Outcome>,
  ) =>
  async (...args: Args): Promise<Outcome> =>
    await traced("client", `${to} ${operation}`, async (span) => {
      const startedMs = performance.now();
      const outcome = await call(...args);
      durations.observe({ operation, outcome: outcome.kind }, secondsSince(startedMs));
      span?.set({ "peer.service": to, "amana.outcome": outcome.kind });
      // Nobody knows whether it happened.
      if (outcome.kind === "unknown") span?.fail(outcome.kind);
      return outcome;
    });
