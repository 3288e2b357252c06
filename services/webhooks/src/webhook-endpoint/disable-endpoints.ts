import { transaction } from "@amana/database";
import { byPlatform, recordAction } from "@amana/messaging";
import { type EndpointDisabledReason, renderEndpointDisabled } from "@amana/public-api";
import { uuidv7 } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { addEvent } from "../event/add-events.ts";

/**
 * A request to disable an endpoint. GONE means that the endpoint responded with status 410;
 * `updated_at` is the `endpoint_updated_at` of the delivery. FAILING means that all attempts at the
 * endpoint have failed for five days.
 */
export type DisableRequest =
  | { readonly id: string; readonly reason: "GONE"; readonly updated_at: string }
  | { readonly id: string; readonly reason: "FAILING" };

interface DisabledEndpoint {
  readonly id: string;
  readonly business_id: string;
  readonly url: string;
  readonly reason: EndpointDisabledReason;
}

/**
 * Disables each ACTIVE endpoint for which the reason of the request still applies. GONE no longer
 * applies if the endpoint has been changed or enabled since the attempt began, because the business
 * may have repaired the receiver. The same transaction writes the audit entry and the event for the
 * business's other endpoints. A repeated request has no effect, because the endpoint is already
 * DISABLED. Locks the endpoints in the order of their ids, so that two calls cannot wait for each
 * other.
 */
export async function disableEndpoints(context: Context, requests: readonly DisableRequest[]): Promise<void> {
  if (requests.length === 0) return;
  const { orm, clock, logger, signals } = context;
  const disabled = await transaction(orm, async (em) => {
    const rows = await em.execute<DisabledEndpoint[]>(
      `update webhook_endpoint e set status = 'DISABLED', updated_at = now(), version = e.version + 1
       from jsonb_to_recordset(?::jsonb) as g (id uuid, reason text, updated_at timestamptz)
       where e.id = any(array(select id from webhook_endpoint where id = any(?::uuid[]) order by id for no key update))
         and e.id = g.id and e.status = 'ACTIVE'
         and case g.reason when 'GONE' then e.updated_at = g.updated_at else e.failing_since < now() - interval '5 days' end
       returning e.id, e.business_id, e.url, g.reason`,
      [JSON.stringify(requests), `{${requests.map(({ id }) => id).join(",")}}`],
    );
    const now = clock.now();
    for (const row of rows) await recordDisabling(em, row, now);
    return rows;
  });
  for (const { id, reason } of disabled) logger.info({ endpoint_id: id, reason }, "webhook endpoint disabled");
  if (disabled.length > 0) signals.emit("due");
}

async function recordDisabling(
  em: SqlEntityManager,
  { id, business_id: businessId, url, reason }: DisabledEndpoint,
  now: Date,
): Promise<void> {
  recordAction("webhooks")(em, now, {
    by: byPlatform,
    action: "webhook_endpoint.disabled",
    entity: { type: "webhook_endpoint", id },
    businessId,
    before: { status: "ACTIVE" },
    after: { status: "DISABLED" },
    reason,
  });
  const [eventId, occurredAt] = [uuidv7(), now.toISOString()];
  const body = renderEndpointDisabled({
    id: eventId,
    occurred_at: occurredAt,
    business_id: businessId,
    endpoint_id: id,
    url,
    reason,
  });
  const event = { id: eventId, businessId, type: "WEBHOOK_ENDPOINT_DISABLED", occurredAt, body };
  await addEvent(em, event, "t.type = any(e.events) and e.id <> ?", id);
}
