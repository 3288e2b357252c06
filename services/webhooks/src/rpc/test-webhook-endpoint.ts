import {
  TestWebhookEndpointResponseSchema,
  type WebhookEndpointService,
} from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { once } from "@amana/idempotency";
import { renderBareEvent } from "@amana/public-api";
import { businessOf, type Implementation } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import type { Context } from "../context.ts";
import { toDeliveryMessages } from "../delivery/delivery.message.ts";
import type { DeliveryRow } from "../delivery/queries.ts";
import { eventView } from "../event/event.message.ts";
import { activeEndpoint } from "../webhook-endpoint/active-endpoint.ts";

const type = "WEBHOOK_TEST";

/** The event and its one delivery are due when committed, and go the way of all others. */
export const testWebhookEndpoint =
  ({ orm, clock, dispatcher }: Context): Implementation<typeof WebhookEndpointService.method.testWebhookEndpoint> =>
  async (request, call) => {
    const businessId = businessOf(call.caller);
    const answer = await once(orm, call, TestWebhookEndpointResponseSchema, async (em) => {
      const endpoint = await activeEndpoint(em, businessId, request.id);
      const createdAt = clock.now();
      const id = uuidv7();
      const body = renderBareEvent(type, id, businessId, createdAt);
      const deliveries = await em.execute<Omit<DeliveryRow, "attempts">[]>(
        `with told as (
           insert into event (id, business_id, type, body, created_at) values (?, ?, ?, ?, ?) returning id, business_id
         )
         insert into delivery (id, business_id, event_id, endpoint_id, status, next_attempt_at)
         select uuidv7(), business_id, id, ?, 'PENDING', now() from told
         returning id, endpoint_id, status, floor(extract(epoch from next_attempt_at) * 1000)::bigint as next_attempt_at_ms`,
        [id, businessId, type, body, createdAt, endpoint.id],
      );
      const [delivery] = toDeliveryMessages(deliveries.map((row) => ({ ...row, attempts: [] })));
      return { event: eventView.toMessage({ id, type, body, createdAt }), ...(delivery && { delivery }) };
    });
    dispatcher.pause.wake();
    return answer;
  };
