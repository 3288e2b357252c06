import { DeliveryJson, EventJson, eventTypeNames, renderDelivery, renderEvent } from "@amana/public-api";
import { Type } from "typebox";
import { callOf } from "../call.ts";
import { bodyOf } from "../form/body.ts";
import { choice, timestamp, timestampMs, uuid } from "../form/fields.ts";
import { pageParameters } from "../form/query.ts";
import type { App, Gateway } from "../gateway.ts";
import { pageHeaders } from "../list.ts";
import { PathId, pathId } from "./path-id.ts";

const tags = ["Events"];
const json = "application/json; charset=utf-8";

export const events =
  ({ rpc }: Gateway) =>
  async (app: App): Promise<void> => {
    app.get(
      "",
      {
        schema: {
          tags,
          operationId: "listEvents",
          summary: "List what you were told, newest first, 30 days back",
          querystring: Type.Object({
            ...pageParameters(),
            type: Type.Optional(choice([...eventTypeNames, "WEBHOOK_TEST"])),
            from: Type.Optional(timestamp({ description: "Created at this time or later." })),
            to: Type.Optional(timestamp({ description: "Created before this time, which is itself left out." })),
          }),
          response: { 200: Type.Unsafe<string>(Type.Array(EventJson)) },
        },
      },
      async (request, reply) => {
        const { limit, offset, type, from, to } = request.query;
        const page = await rpc.events.listEvents(
          { limit, offset, type, fromMs: timestampMs(from), toMs: timestampMs(to) },
          callOf(request, reply),
        );
        pageHeaders(request, reply, { limit, offset }, page);
        return reply.type(json).send(`[${page.events.map(renderEvent).join(",")}]`);
      },
    );

    app.get(
      "/:id",
      {
        schema: {
          tags,
          operationId: "getEvent",
          summary: "Read an event",
          params: PathId,
          response: { 200: Type.Unsafe<string>(EventJson) },
        },
      },
      async (request, reply) => {
        const event = await rpc.events.getEvent({ id: pathId(request.params) }, callOf(request, reply));
        return reply.type(json).send(renderEvent(event));
      },
    );

    app.get(
      "/:id/deliveries",
      {
        schema: {
          tags,
          operationId: "listDeliveries",
          summary: "List the deliveries of an event with every attempt",
          params: PathId,
          querystring: Type.Object(pageParameters()),
          response: { 200: Type.Array(DeliveryJson) },
        },
      },
      async (request, reply) => {
        const { limit, offset } = request.query;
        const eventId = pathId(request.params);
        const page = await rpc.events.listDeliveries({ eventId, limit, offset }, callOf(request, reply));
        pageHeaders(request, reply, { limit, offset }, page);
        return page.deliveries.map(renderDelivery);
      },
    );

    app.post(
      "/:id/redeliver",
      {
        schema: {
          tags,
          operationId: "redeliverEvent",
          summary: "Deliver an event again",
          description: "To one endpoint, or to all that had a delivery; only to ACTIVE ones.",
          params: PathId,
          body: bodyOf({ endpoint_id: Type.Optional(uuid()) }, { optional: true }),
          response: { 200: Type.Array(DeliveryJson) },
        },
      },
      async (request, reply) => {
        const { endpoint_id } = request.body;
        const eventId = pathId(request.params);
        const { deliveries } = await rpc.events.redeliverEvent({ eventId, endpointId: endpoint_id }, callOf(request, reply));
        return deliveries.map(renderDelivery);
      },
    );
  };
