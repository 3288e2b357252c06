import { isUuid } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { webhookEndpointDisabled, webhookEndpointNotFound } from "./webhook-endpoint.errors.ts";
import { WebhookEndpoint } from "./webhook-endpoint.ts";

/** An endpoint of the business that may be sent something. Throws `missing` or `disabled`. */
export async function activeEndpoint(
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
