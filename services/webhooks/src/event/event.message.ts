import { EventSchema } from "@amana/contracts/webhooks/v1/event_pb";
import { ListEventsRequestSchema } from "@amana/contracts/webhooks/v1/event_service_pb";
import { defineList, defineView } from "@amana/database";
import { Event } from "./event.ts";

/** The events of the last 30 days. The table keeps events up to ten days longer. */
export const eventView = defineView(Event, EventSchema, { where: "created_at > now() - interval '30 days'" });

export const eventList = defineList(eventView, ListEventsRequestSchema, { fromMs: "created_at >= ?", toMs: "created_at < ?" });
