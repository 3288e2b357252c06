import type { FastifyInstance } from "fastify";
import { type Body, isWholeNumber } from "./checks.ts";
import type { Context } from "./context.ts";
import { refuse } from "./edge.ts";
import { isOperation, operations } from "./faults.ts";

/**
 * Maximum number of seconds by which one call advances the clock. The limit keeps dates in a
 * printable range.
 */
const advanceSecondsMax = 10 * 365 * 86_400;

/** Registers the control calls for the whole sandbox: faults and the clock. */
export async function controlCalls(app: FastifyInstance, { clock, faults }: Context): Promise<void> {
  app.put<{ Body: Body | null }>("/sandbox/faults", ({ body }, reply) => {
    const problem = faults.set(body ?? {});
    return problem ? refuse(reply, 422, "invalid_fault", problem) : { faults: faults.list() };
  });

  app.get("/sandbox/faults", () => ({ faults: faults.list() }));

  app.delete<{ Querystring: { operation?: string } }>("/sandbox/faults", ({ query: { operation } }, reply) => {
    if (operation !== undefined && !isOperation(operation)) {
      const problem = `operation must be one of ${operations.join(", ")}. Omit it to remove all faults.`;
      return refuse(reply, 422, "invalid_fault", problem);
    }
    faults.clear(operation);
    return { faults: faults.list() };
  });

  app.post<{ Body: Body | null }>("/sandbox/clock", ({ body }, reply) => {
    const seconds = body?.["advance_seconds"];
    if (!isWholeNumber(seconds, 0, advanceSecondsMax)) {
      const problem = `advance_seconds must be a whole number from 0 to ${advanceSecondsMax}, because the clock only moves forward.`;
      return refuse(reply, 422, "invalid_clock", problem);
    }
    clock.advance(seconds);
    return { now: new Date(clock.nowMs()).toISOString() };
  });
}
