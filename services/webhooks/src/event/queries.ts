import { ListEventsRequestSchema } from "@amana/contracts/webhooks/v1/event_service_pb";
import { defineList, type Tally } from "@amana/database";
import { eventView } from "./event.message.ts";

export const eventTally: Tally = { table: "event", dimensions: ["type"] };

export const eventList = defineList(
  eventView,
  ListEventsRequestSchema,
  { fromMs: "created_at >= ?", toMs: "created_at < ?" },
  eventTally,
);
