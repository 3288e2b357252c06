import { ListEventsRequestSchema } from "@amana/contracts/webhooks/v1/event_service_pb";
import { defineList } from "@amana/database";
import { eventView } from "./event.message.ts";

export const eventList = defineList(eventView, ListEventsRequestSchema, {
  fromMs: "created_at >= ?",
  toMs: "created_at < ?",
});
