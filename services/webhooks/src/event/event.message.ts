import { EventSchema } from "@amana/contracts/webhooks/v1/event_pb";
import { ListEventsRequestSchema } from "@amana/contracts/webhooks/v1/event_service_pb";
import { defineList, defineView, type Tally } from "@amana/database";
import { Event } from "./event.ts";

/** The log goes back 30 days, also when the job that deletes older events is late. */
export const eventView = defineView(Event, EventSchema, { where: "created_at > now() - interval '30 days'" });

export const eventTally: Tally = { table: "event", dimensions: ["type"] };

export const eventList = defineList(
  eventView,
  ListEventsRequestSchema,
  { fromMs: "created_at >= ?", toMs: "created_at < ?" },
  eventTally,
);
