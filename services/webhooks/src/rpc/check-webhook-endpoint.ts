import {
  CheckWebhookEndpointResponseSchema,
  type WebhookEndpointService,
} from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { transaction } from "@amana/database";
import { claimKey, lockKey } from "@amana/idempotency";
import { acquireThrottle } from "@amana/jobs";
import { type Implementation, requireBusiness } from "@amana/rpc";
import { checkReceiver, type Receiver } from "../check/check-receiver.ts";
import type { Context } from "../context.ts";
import { requireActiveEndpoint } from "../webhook-endpoint/require-active-endpoint.ts";
import { signingSecretsSql } from "../webhook-endpoint/secrets.ts";
import { endpointCheckedRecently, webhookEndpointNotFound } from "../webhook-endpoint/webhook-endpoint.errors.ts";

/** Allows one check of an endpoint in ten seconds, which is the maximum duration of a check. */
const checkThrottle = { table: "webhook_endpoint", column: "checked_at", where: "status = 'ACTIVE'" };

/**
 * Claims the Idempotency-Key and updates the throttle in a first transaction. Then checks the
 * receiver outside of a transaction, and stores the response in a second transaction.
 */
export const checkWebhookEndpoint =
  (context: Context): Implementation<typeof WebhookEndpointService.method.checkWebhookEndpoint> =>
  async (request, call) => {
    const businessId = requireBusiness(call.caller);
    const claimed = await transaction(context.orm, async (em) => {
      // Holds the key only for this call's remaining time, so that a repeated request can run the
      // check again after a crash.
      const claim = await claimKey(em, call, CheckWebhookEndpointResponseSchema, { heldMs: call.remainingMs() });
      if ("replayed" in claim) return claim;
      const endpoint = await requireActiveEndpoint(em, businessId, request.id);
      if (!(await acquireThrottle(em, checkThrottle, businessId, endpoint.id))) throw endpointCheckedRecently();
      const [receiver] = await em.execute<Receiver[]>(
        `select e.business_id, e.id as endpoint_id, e.url, ${signingSecretsSql} from webhook_endpoint e where e.id = ?`,
        [endpoint.id],
      );
      if (!receiver) throw webhookEndpointNotFound();
      return { receiver, keyId: claim.record?.id };
    });
    if ("replayed" in claimed) return claimed.replayed;

    const response = { checks: await checkReceiver(context, claimed.receiver) };
    await transaction(context.orm, async (em) => {
      const key = await lockKey(em, claimed.keyId);
      if (key && !key.hasEnded()) key.storeResponse(CheckWebhookEndpointResponseSchema, response);
    });
    return response;
  };
