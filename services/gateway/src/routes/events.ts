import { DeliveryJson, EventJson, eventLogTypes, renderDelivery, renderEvent } from "@amana/public-api";
import { Type } from "typebox";
import { choice, timestamp, uuid } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { act, list, read } from "../operations.ts";

const event = { tags: ["Events"], answer: EventJson, render: renderEvent };

export async function events(app: App, { rpc: { events: rpc } }: Gateway): Promise<void> {
  list(app, "", {
    ...event,
    rpc: rpc.listEvents,
    summary: "List what you were told, newest first, 30 days back",
    filters: {
      type: choice(eventLogTypes),
      from: timestamp({ description: "Created at this time or later." }),
      to: timestamp({ description: "Created before this time, which is itself left out." }),
    },
  });

  read(app, "/:id", { ...event, rpc: rpc.getEvent, summary: "Read an event" });

  list(app, "/:id/deliveries", {
    ...event,
    rpc: rpc.listDeliveries,
    summary: "List the deliveries of an event with every attempt",
    answer: DeliveryJson,
    render: renderDelivery,
    rpcNames: { id: "event_id" },
  });

  act(app, "/:id/redeliver", {
    ...event,
    rpc: rpc.redeliverEvent,
    summary: "Deliver an event again",
    description: "To one endpoint, or to all that had a delivery; only to ACTIVE ones.",
    body: { endpoint_id: Type.Optional(uuid()) },
    answer: Type.Array(DeliveryJson),
    render: ({ deliveries }) => deliveries.map(renderDelivery),
    rpcNames: { id: "event_id" },
  });
}
