import type { DeadLetterAction } from "@amana/messaging";
import type { Call } from "@amana/rpc";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { recordAction } from "./audit-event.ts";

/** What operators do with events that this service set aside goes into its own trail at once. */
export const recordDeadLetter =
  (clock: { now(): Date }) =>
  (em: SqlEntityManager, call: Call, { action, id, before, after, reason }: DeadLetterAction): void =>
    recordAction(em, call, clock.now(), { action, entity: { type: "dead_letter", id }, before, after, reason });
