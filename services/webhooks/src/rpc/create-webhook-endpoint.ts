import { WebhookEndpointSchema } from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import type { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { once } from "@amana/idempotency";
import { type Implementation, requireBusiness } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import type { Context } from "../context.ts";
import { parseEventFilter } from "../webhook-endpoint/parse-event-filter.ts";
import { recordEndpointAction } from "../webhook-endpoint/record-endpoint-action.ts";
import { newSecret } from "../webhook-endpoint/secrets.ts";
import { validateUrl } from "../webhook-endpoint/validate-url.ts";
import { endpointsMax, webhookEndpointLimitReached } from "../webhook-endpoint/webhook-endpoint.errors.ts";
import { toWebhookEndpointMessage } from "../webhook-endpoint/webhook-endpoint.message.ts";
import { WebhookEndpoint } from "../webhook-endpoint/webhook-endpoint.ts";

export const createWebhookEndpoint =
  ({ orm, clock, secrets, addresses }: Context): Implementation<typeof WebhookEndpointService.method.createWebhookEndpoint> =>
  async (request, call) => {
    const businessId = requireBusiness(call.caller);
    // Validates the URL before the transaction, because resolving a host name can be slow. Throws
    // the refusal inside `once`, so that a repeated request still gets the stored response.
    const refusal = await validateUrl(request.url, addresses, businessId);
    return await once(
      orm,
      call,
      WebhookEndpointSchema,
      async (em) => {
        if (refusal) throw refusal;
        const events = parseEventFilter(request.events);
        // Serializes creations of a business. Without the lock, two concurrent creations could both
        // count 19 endpoints and exceed the limit.
        await em.execute("select pg_advisory_xact_lock(hashtextextended(?, 0))", [`webhook_endpoint:${businessId}`]);
        if ((await em.count(WebhookEndpoint, { businessId })) >= endpointsMax) throw webhookEndpointLimitReached();

        const id = uuidv7();
        const secret = newSecret();
        const now = clock.now();
        const endpoint = em.create(WebhookEndpoint, {
          id,
          businessId,
          url: request.url,
          status: "ACTIVE",
          events,
          secretCiphertext: secrets.encrypt(secret, id),
          createdAt: now,
          updatedAt: now,
        });
        em.persist(endpoint);
        recordEndpointAction(em, now, call, "webhook_endpoint.created", endpoint, { after: endpoint.snapshot() });
        return toWebhookEndpointMessage(endpoint, { secret });
      },
      ({ secret: _shownOnce, ...response }) => response,
    );
  };
