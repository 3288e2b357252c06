import { EventSchema } from "@amana/contracts/webhooks/v1/event_pb";
import { ListEventsRequestSchema } from "@amana/contracts/webhooks/v1/event_service_pb";
import { defineList, defineView, type Tally } from "@amana/database";
import { Event } from "./event.ts";

/** The log goes back 30 days, though older events leave the table some days later. */
export const eventView = defineView(Event, EventSchema, { where: "created_at > now() - interval '30 days'" });

/** Events stay in the table for some days more; once an hour they leave the count. */
export const eventTally: Tally = {
  table: "event",
  dimensions: ["type"],
  // The time bounds the look in the list's index. Ids are made in the transaction of what happened.
  countsHidden: `created_at > (select uuid_time(id) - interval '1 hour' from event_tally_from)
    and id >= (select id from event_tally_from)`,
};

export const eventList = defineList(
  eventView,
  ListEventsRequestSchema,
  { fromMs: "created_at >= ?", toMs: "created_at < ?" },
  eventTally,
);
