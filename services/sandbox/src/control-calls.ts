import type { FastifyInstance } from "fastify";
import type { Clock } from "./clock.ts";
import { type Faults, isOperation, operations } from "./faults.ts";

/** A single jump; longer ones would leave the range in which dates still print sensibly. */
const advanceSecondsMax = 10 * 365 * 86_400;

/** The calls of testers that concern the whole sandbox: planted faults and its clock. */
export async function controlCalls(app: FastifyInstance, { clock, faults }: { clock: Clock; faults: Faults }): Promise<void> {
  app.put<{ Body: Record<string, unknown> | null }>("/sandbox/faults", (request, reply) => {
    const refused = faults.plant(request.body ?? {});
    if (refused) return reply.code(422).send({ error: "invalid_fault", message: refused.problem });
    return reply.send({ faults: faults.list() });
  });

  app.get("/sandbox/faults", (_request, reply) => reply.send({ faults: faults.list() }));

  app.delete<{ Querystring: { operation?: string } }>("/sandbox/faults", (request, reply) => {
    const { operation } = request.query;
    if (operation !== undefined && !isOperation(operation)) {
      return reply.code(422).send({
        error: "invalid_fault",
        message: `operation must be one of ${operations.join(", ")}, or left out to clear all.`,
      });
    }
    faults.clear(operation);
    return reply.send({ faults: faults.list() });
  });

  app.post<{ Body: { advance_seconds?: unknown } | null }>("/sandbox/clock", (request, reply) => {
    const seconds = request.body?.advance_seconds;
    if (!Number.isInteger(seconds) || Number(seconds) < 0 || Number(seconds) > advanceSecondsMax) {
      return reply.code(422).send({
        error: "invalid_clock",
        message: `advance_seconds must be a whole number from 0 to ${advanceSecondsMax}; the clock only moves forward.`,
      });
    }
    clock.advance(Number(seconds));
    return reply.send({ now: new Date(clock.nowMs()).toISOString() });
  });
}
