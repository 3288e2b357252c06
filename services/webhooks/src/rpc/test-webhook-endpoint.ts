import {
  TestWebhookEndpointResponseSchema,
  type WebhookEndpointService,
} from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { once } from "@amana/idempotency";
import { renderBareEvent } from "@amana/public-api";
import { type Implementation, requireBusiness } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import type { Context } from "../context.ts";
import { addEvent } from "../event/add-events.ts";
import { eventView } from "../event/event.message.ts";
import { requireAttemptsLeft } from "../webhook-endpoint/attempt-limit.ts";
import { requireActiveEndpoint } from "../webhook-endpoint/require-active-endpoint.ts";

const type = "WEBHOOK_TEST";

/** Inserts a test event and its delivery, which the worker sends like any other delivery. */
export const testWebhookEndpoint =
  (context: Context): Implementation<typeof WebhookEndpointService.method.testWebhookEndpoint> =>
  async (request, call) => {
    const { orm, clock, signals } = context;
    const businessId = requireBusiness(call.caller);
    const response = await once(orm, call, TestWebhookEndpointResponseSchema, async (em) => {
      const endpoint = await requireActiveEndpoint(em, businessId, request.id);
      await requireAttemptsLeft(em, context, businessId);
      const createdAt = clock.now();
      const id = uuidv7();
      const body = renderBareEvent(type, id, businessId, createdAt);
      const event = { id, businessId, type, body, occurredAt: createdAt.toISOString() } as const;
      const [delivery] = await addEvent(em, event, "e.id = ?", endpoint.id);
      return { event: eventView.toMessage({ ...event, createdAt }), ...(delivery && { delivery }) };
    });
    signals.emit("due");
    return response;
  };
