import type { EventService } from "@amana/contracts/webhooks/v1/event_service_pb";
import type { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { type Implementation, requireBusiness } from "@amana/rpc";
import { createGetRpc, createListRpc } from "@amana/service-host";
import type { Context } from "../context.ts";
import { readDeliveryPage } from "../event/delivery.message.ts";
import { eventNotFound } from "../event/event.errors.ts";
import { eventList, eventView } from "../event/event.message.ts";
import { webhookReplayNotFound } from "../replay/webhook-replay.errors.ts";
import { webhookReplayView } from "../replay/webhook-replay.message.ts";
import { healthOf, readAttemptsOfDay } from "../webhook-endpoint/endpoint-health.ts";
import { webhookEndpointNotFound } from "../webhook-endpoint/webhook-endpoint.errors.ts";
import {
  toWebhookEndpointMessage,
  webhookEndpointList,
  webhookEndpointView,
} from "../webhook-endpoint/webhook-endpoint.message.ts";

export const listWebhookEndpoints = createListRpc(webhookEndpointList, "webhookEndpoints", toWebhookEndpointMessage);

export const getWebhookEndpoint =
  ({ orm, attemptSums }: Context): Implementation<typeof WebhookEndpointService.method.getWebhookEndpoint> =>
  async ({ id }, { caller }) => {
    const businessId = requireBusiness(caller);
    const endpoint = await webhookEndpointView.read(orm.em, businessId, id);
    if (!endpoint) throw webhookEndpointNotFound();
    const day = await attemptSums.dayOfEndpoint(endpoint.id, () => readAttemptsOfDay(orm.em, businessId, endpoint.id));
    return toWebhookEndpointMessage(endpoint, { health: healthOf(endpoint, day) });
  };

export const getWebhookReplay =
  ({ orm }: Context): Implementation<typeof WebhookEndpointService.method.getWebhookReplay> =>
  async ({ id, replayId }, { caller }) => {
    const replay = await webhookReplayView.read(orm.em, requireBusiness(caller), replayId);
    if (replay?.endpointId !== id) throw webhookReplayNotFound();
    return webhookReplayView.toMessage(replay);
  };

export const getEvent = createGetRpc(eventView, eventView.toMessage, eventNotFound);
export const listEvents = createListRpc(eventList, "events", eventView.toMessage);

export const listDeliveries =
  ({ orm }: Context): Implementation<typeof EventService.method.listDeliveries> =>
  async ({ eventId, limit, offset }, { caller }) => {
    const businessId = requireBusiness(caller);
    if (!(await eventView.read(orm.em, businessId, eventId))) throw eventNotFound();
    return await readDeliveryPage(orm.em, businessId, eventId, { limit, offset });
  };
