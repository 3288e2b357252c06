import { WebhookEndpointStatus } from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import {
  eventTypeNames,
  renderWebhookEndpoint,
  WebhookEndpointCreation,
  WebhookEndpointJson,
  WebhookEndpointUpdate,
  webhookEndpointStatuses,
} from "@amana/public-api";
import { Type } from "typebox";
import { callOf } from "../call.ts";
import { bodyOf } from "../form/body.ts";
import { clearable } from "../form/field.ts";
import { choice, distinct, flag, text } from "../form/fields.ts";
import { pageParameters } from "../form/query.ts";
import type { App, Gateway } from "../gateway.ts";
import { pageHeaders } from "../list.ts";
import { PathId, pathId } from "./path-id.ts";

const tags = ["Webhook endpoints"];
/** Checking an address resolves its name. */
const urlCheckTimeoutMs = 15_000;
/** A bound for what is passed on. The service refuses shorter ones, in its own words. */
const urlCharactersMax = 8_192;
const urlRule = "Absolute, https, public, at most 2048 characters, without credentials and without a fragment.";

export const webhookEndpoints =
  ({ rpc }: Gateway) =>
  async (app: App): Promise<void> => {
    // Which addresses are good is for the service to say, which also connects to them: one judge, with precise codes.
    const url = () => text(urlCharactersMax, { description: urlRule, examples: ["https://shop.example/webhooks/amana"] });
    const events = () =>
      distinct(choice(eventTypeNames), `must be a list of different event types among ${eventTypeNames.join(", ")}`, {
        description: "Event types it is to receive. Empty means the default: all but the opt-in ones.",
      });

    app.post(
      "",
      {
        schema: {
          tags,
          operationId: "createWebhookEndpoint",
          summary: "Register a webhook endpoint",
          description:
            "The answer carries the signing `secret`, once. Without `events`, or with an empty list: all but the opt-in ones.",
          body: bodyOf({ url: url(), events: Type.Optional(events()) }),
          response: { 201: WebhookEndpointCreation },
        },
      },
      async (request, reply) => {
        const call = callOf(request, reply, urlCheckTimeoutMs);
        const endpoint = await rpc.webhookEndpoints.createWebhookEndpoint(request.body, call);
        reply.code(201).header("location", `/api/v1/webhook-endpoints/${endpoint.id}`);
        return renderWebhookEndpoint(endpoint);
      },
    );

    app.get(
      "",
      {
        schema: {
          tags,
          operationId: "listWebhookEndpoints",
          summary: "List webhook endpoints, newest first",
          querystring: Type.Object(pageParameters()),
          response: { 200: Type.Array(WebhookEndpointJson) },
        },
      },
      async (request, reply) => {
        const { limit, offset } = request.query;
        const page = await rpc.webhookEndpoints.listWebhookEndpoints({ limit, offset }, callOf(request, reply));
        pageHeaders(request, reply, { limit, offset }, page);
        return page.webhookEndpoints.map(renderWebhookEndpoint);
      },
    );

    app.get(
      "/:id",
      {
        schema: {
          tags,
          operationId: "getWebhookEndpoint",
          summary: "Read a webhook endpoint",
          params: PathId,
          response: { 200: WebhookEndpointJson },
        },
      },
      async (request, reply) => {
        const id = pathId(request.params);
        return renderWebhookEndpoint(await rpc.webhookEndpoints.getWebhookEndpoint({ id }, callOf(request, reply)));
      },
    );

    app.patch(
      "/:id",
      {
        schema: {
          tags,
          operationId: "updateWebhookEndpoint",
          summary: "Change a webhook endpoint, rotate its secret",
          description: "`events` null or an empty list brings back the default: all but the opt-in ones.",
          params: PathId,
          body: bodyOf(
            {
              url: Type.Optional(url()),
              rotate_secret: Type.Optional(flag()),
              status: Type.Optional(choice(webhookEndpointStatuses)),
              events: Type.Optional(clearable(events())),
            },
            { immutable: ["id", "business_id", "created_at", "updated_at", "secret"] },
          ),
          response: { 200: WebhookEndpointUpdate },
        },
      },
      async (request, reply) => {
        const { body } = request;
        const endpoint = await rpc.webhookEndpoints.updateWebhookEndpoint(
          {
            id: pathId(request.params),
            url: body.url,
            rotateSecret: body.rotate_secret,
            status: body.status && WebhookEndpointStatus[body.status],
            events: body.events === undefined ? undefined : { types: body.events ?? [] },
          },
          callOf(request, reply, urlCheckTimeoutMs),
        );
        return renderWebhookEndpoint(endpoint);
      },
    );

    app.delete(
      "/:id",
      {
        schema: {
          tags,
          operationId: "deleteWebhookEndpoint",
          summary: "Delete a webhook endpoint",
          description: "Its pending deliveries are dropped.",
          params: PathId,
          response: { 204: Type.Unsafe<undefined>(Type.Null({ description: "Deleted." })) },
        },
      },
      async (request, reply) => {
        const id = pathId(request.params);
        await rpc.webhookEndpoints.deleteWebhookEndpoint({ id }, callOf(request, reply));
        return reply.code(204).send();
      },
    );
  };
