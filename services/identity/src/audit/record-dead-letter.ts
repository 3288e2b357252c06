import type { RecordDeadLetter } from "@amana/messaging";
import { recordAction } from "./audit-event.ts";

/** What operators do with events that this service set aside goes into its own trail at once. */
export const recordDeadLetter =
  (clock: { now(): Date }): RecordDeadLetter =>
  (em, call, { action, id, before, after, reason }) =>
    recordAction(em, call, clock.now(), { action, entity: { type: "dead_letter", id }, before, after, reason });
