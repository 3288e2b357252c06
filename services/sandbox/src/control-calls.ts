import type { FastifyInstance } from "fastify";
import { type Body, isWhole } from "./checks.ts";
import type { Context } from "./context.ts";
import { refuse } from "./edge.ts";
import { isOperation, operations } from "./faults.ts";

/** A single jump; longer ones would leave the range in which dates still print sensibly. */
const advanceSecondsMax = 10 * 365 * 86_400;

/** The calls of testers that concern the whole sandbox: planted faults and its clock. */
export async function controlCalls(app: FastifyInstance, { clock, faults }: Context): Promise<void> {
  app.put<{ Body: Body | null }>("/sandbox/faults", ({ body }, reply) => {
    const problem = faults.plant(body ?? {});
    return problem ? refuse(reply, 422, "invalid_fault", problem) : { faults: faults.list() };
  });

  app.get("/sandbox/faults", () => ({ faults: faults.list() }));

  app.delete<{ Querystring: { operation?: string } }>("/sandbox/faults", ({ query: { operation } }, reply) => {
    if (operation !== undefined && !isOperation(operation)) {
      const problem = `operation must be one of ${operations.join(", ")}, or left out to clear all.`;
      return refuse(reply, 422, "invalid_fault", problem);
    }
    faults.clear(operation);
    return { faults: faults.list() };
  });

  app.post<{ Body: Body | null }>("/sandbox/clock", ({ body }, reply) => {
    const seconds = body?.["advance_seconds"];
    if (!isWhole(seconds, 0, advanceSecondsMax)) {
      const problem = `advance_seconds must be a whole number from 0 to ${advanceSecondsMax}; the clock only moves forward.`;
      return refuse(reply, 422, "invalid_clock", problem);
    }
    clock.advance(seconds);
    return { now: new Date(clock.nowMs()).toISOString() };
  });
}
