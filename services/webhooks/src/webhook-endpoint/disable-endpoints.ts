import { transaction } from "@amana/database";
import { byPlatform, recordAction } from "@amana/messaging";
import { type EndpointDisabledReason, renderEndpointDisabled } from "@amana/public-api";
import { uuidv7 } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { addEvent } from "../event/add-events.ts";

/** Nothing more is to be sent to it: it answered 410 at `url`, or failed for five days. */
export type GivenUp =
  | { readonly id: string; readonly reason: "GONE"; readonly url: string }
  | { readonly id: string; readonly reason: "FAILING" };

interface Disabled {
  readonly id: string;
  readonly business_id: string;
  readonly url: string;
  readonly reason: EndpointDisabledReason;
}

/**
 * Disables those endpoints of which it is still true. The audit trail and the business's other
 * endpoints are told in the same transaction, so it does no harm to ask twice.
 */
export async function disableEndpoints(context: Context, givenUp: readonly GivenUp[]): Promise<void> {
  if (givenUp.length === 0) return;
  const { orm, clock, logger, signals } = context;
  const disabled = await transaction(orm, async (em) => {
    const rows = await em.execute<Disabled[]>(
      `update webhook_endpoint e set status = 'DISABLED', updated_at = now(), version = e.version + 1
       from jsonb_to_recordset(?::jsonb) as g (id uuid, reason text, url text)
       where e.id = g.id and e.status = 'ACTIVE'
         and case g.reason when 'GONE' then e.url = g.url else e.failing_since < now() - interval '5 days' end
       returning e.id, e.business_id, e.url, g.reason`,
      [JSON.stringify(givenUp)],
    );
    const now = clock.now();
    for (const row of rows) await tell(em, row, now);
    return rows;
  });
  for (const { id, reason } of disabled) logger.info({ endpoint_id: id, reason }, "an endpoint was disabled");
  if (disabled.length > 0) signals.emit("due");
}

async function tell(em: SqlEntityManager, { id, business_id: businessId, url, reason }: Disabled, now: Date): Promise<void> {
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
