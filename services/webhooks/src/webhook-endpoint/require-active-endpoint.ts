import { isUuid } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { webhookEndpointDisabled, webhookEndpointNotFound } from "./webhook-endpoint.errors.ts";
import { WebhookEndpoint } from "./webhook-endpoint.ts";

/**
 * Returns an ACTIVE endpoint of the business. Throws the error that `missing` creates if the
 * endpoint does not exist, and the error that `disabled` creates if it is DISABLED.
 */
export async function requireActiveEndpoint(
  em: SqlEntityManager,
  businessId: string,
  id: string,
  missing = webhookEndpointNotFound,
  disabled = webhookEndpointDisabled,
): Promise<WebhookEndpoint> {
  const endpoint = isUuid(id) ? await em.findOne(WebhookEndpoint, { id, businessId }) : null;
  if (!endpoint) throw missing();
  if (endpoint.status !== "ACTIVE") throw disabled();
  return endpoint;
}
