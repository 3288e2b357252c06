import { DeliveryJson, EventJson, eventLogTypes, renderDelivery, renderEvent } from "@amana/public-api";
import { Type } from "typebox";
import { choice, timestamp, uuid } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { addActionRoute, addListRoute, addReadRoute } from "../operations.ts";

const event = { tag: "Events", response: EventJson, render: renderEvent } as const;

export async function events(app: App, { rpc: { events: rpc } }: Gateway): Promise<void> {
  addListRoute(app, "", {
    ...event,
    rpc: rpc.listEvents,
    summary: "List events",
    description: "Returns the events of your business in the last 30 days that match all filters, newest first.",
    filters: {
      type: choice(eventLogTypes),
      from: timestamp({ description: "Start of the range of creation times, inclusive." }),
      to: timestamp({ description: "End of the range of creation times, exclusive." }),
    },
  });

  addReadRoute(app, "/:id", {
    ...event,
    rpc: rpc.getEvent,
    summary: "Get an event",
    description: "Returns an event with the same body as its webhooks. Events are stored for 30 days.",
  });

  addListRoute(app, "/:id/deliveries", {
    ...event,
    rpc: rpc.listDeliveries,
    summary: "List deliveries of an event",
    description: "Returns one delivery for each webhook endpoint that the event was sent to, with its attempts.",
    response: DeliveryJson,
    render: renderDelivery,
    rpcNames: { id: "event_id" },
  });

  addActionRoute(app, "/:id/redeliver", {
    ...event,
    rpc: rpc.redeliverEvent,
    summary: "Redeliver an event",
    description:
      "Starts the deliveries of the event to ACTIVE endpoints again. The response contains only the newest earlier attempt " +
      "of each delivery, without `response`. Fails with 409 " +
      "`webhook_endpoint_disabled` or `event_without_delivery` when the event cannot be redelivered to `endpoint_id`.",
    body: {
      endpoint_id: Type.Optional(
        uuid("Webhook endpoint that receives the event; by default all ACTIVE endpoints with a delivery of the event."),
      ),
    },
    response: Type.Array(DeliveryJson),
    render: ({ deliveries }) => deliveries.map(renderDelivery),
    rpcNames: { id: "event_id" },
  });
}
