import { EventSchema } from "@amana/contracts/webhooks/v1/event_pb";
import { defineView } from "@amana/database";
import { Event } from "./event.ts";

/** The log goes back 30 days, also when the job that deletes older events is late. */
export const eventView = defineView(Event, EventSchema, { where: "created_at > now() - interval '30 days'" });
