import { isDeepStrictEqual } from "node:util";
import { WebhookEndpointStatus } from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import type { WebhookEndpointService } from "@amana/contracts/webhooks/v1/webhook_endpoint_service_pb";
import { databaseTime, lockRow, transaction } from "@amana/database";
import { type Implementation, requestedName, requireBusiness } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import type { Context } from "../context.ts";
import { parseEventFilter } from "../webhook-endpoint/parse-event-filter.ts";
import { recordEndpointAction } from "../webhook-endpoint/record-endpoint-action.ts";
import { newSecret } from "../webhook-endpoint/secrets.ts";
import { validateUrl } from "../webhook-endpoint/validate-url.ts";
import {
  activateInSecondsInvalid,
  activateInSecondsMax,
  webhookEndpointNotFound,
} from "../webhook-endpoint/webhook-endpoint.errors.ts";
import { toWebhookEndpointMessage } from "../webhook-endpoint/webhook-endpoint.message.ts";
import { WebhookEndpoint } from "../webhook-endpoint/webhook-endpoint.ts";

export const updateWebhookEndpoint =
  ({ orm, secrets, addresses }: Context): Implementation<typeof WebhookEndpointService.method.updateWebhookEndpoint> =>
  async (request, call) => {
    const businessId = requireBusiness(call.caller);
    if (!isUuid(request.id)) throw webhookEndpointNotFound();
    const { url, activateInSeconds } = request;
    if (activateInSeconds < 0 || activateInSeconds > activateInSecondsMax) throw activateInSecondsInvalid();
    // Validates the URL before the transaction, because a transaction must not wait for name
    // servers.
    const refusal = url === undefined ? undefined : await validateUrl(url, addresses, businessId);
    return await transaction(orm, async (em) => {
      const endpoint = await lockRow(em, WebhookEndpoint, businessId, request.id, webhookEndpointNotFound);
      if (refusal) throw refusal;

      const now = await databaseTime(em);
      const before = endpoint.snapshot();
      if (url !== undefined && url !== endpoint.url) endpoint.changeUrl(url, now);
      if (request.events) endpoint.changeEvents(parseEventFilter(request.events.types), now);
      const status = requestedName(WebhookEndpointStatus, request.status);
      if (status && status !== endpoint.status) endpoint.changeStatus(status, now);
      const after = endpoint.snapshot();
      if (request.rotateSecret || !isDeepStrictEqual(after, before)) {
        const operation = request.rotateSecret ? "secret_rotated" : "changed";
        recordEndpointAction(em, now, call, `webhook_endpoint.${operation}`, endpoint, { before, after });
      }
      if (!request.rotateSecret) return toWebhookEndpointMessage(endpoint);

      const secret = newSecret();
      endpoint.rotateSecret(secrets.encrypt(secret, endpoint.id), now, activateInSeconds);
      return toWebhookEndpointMessage(endpoint, { secret });
    });
  };
