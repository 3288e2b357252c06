import { type Orm, preparedQuery } from "@amana/database";
import { claimDue, createDueSearch, type DueGroup, type DueTable } from "@amana/jobs";
import type { Context } from "../context.ts";
import type { DeliveryEndpoint, NewDelivery } from "../event/new-delivery.ts";
import { signingSecretsSql } from "../webhook-endpoint/secrets.ts";
import { dueAtSql, endpointDueAtSql } from "./retry-policy.ts";

/**
 * Maximum number of deliveries in one claim. It is small, because new deliveries wait while a claim
 * is processed.
 */
const claimMax = 64;
/**
 * Maximum number of deliveries to slow endpoints in one claim. A claim takes these deliveries
 * first, so that due deliveries to healthy endpoints cannot delay them. The maximum is an eighth of
 * `claimMax`, because slow endpoints share an eighth of the slots.
 */
const slowClaimMax = 8;

/** A delivery that only this process may send until the lease expires. */
export type LeasedDelivery = NewDelivery & { readonly lease_token: string };

type ClaimedRow = Omit<LeasedDelivery, keyof DeliveryEndpoint> & { readonly endpoint_id: string };

const dueDeliveries: DueTable = {
  table: "delivery",
  plannedCondition: "status = 'PENDING'",
  dueAt: dueAtSql,
  dueAtOfGroup: endpointDueAtSql,
  key: "endpoint_id",
  select: `select c.id, c.lease_token, c.attempts, c.attempts = 0 and c.next_attempt_at = c.created_at as is_first,
      c.event_id, c.business_id, c.endpoint_id, v.type, v.body, v.traceparent
    from claimed c join event v on v.id = c.event_id`,
};

/**
 * Creates a function that claims due deliveries: new deliveries that were inserted without a lease,
 * retries, redeliveries, and deliveries whose lease expired after a crash. The function sets due
 * deliveries to DISABLED or deleted endpoints to SKIPPED instead. In the result, `dueEndpoints` are
 * the ids of the ACTIVE endpoints that had due deliveries before the claim. If `isMore` is true,
 * the caller should claim again immediately, because more deliveries may be due.
 */
export function createClaim({ orm, limits, delivery: { leaseMs } }: Context) {
  const search = createDueSearch(orm, dueDeliveries);
  return async () => {
    const { groups, hasMore } = await search();
    if (groups.length === 0) return { claimed: [], dueEndpoints: [], isMore: false };
    const endpoints = await readActiveEndpoints(orm, groups);
    const inactive = groups.filter(({ key }) => !endpoints.has(key));
    const skipped = await skip(orm, inactive);
    const claimed: LeasedDelivery[] = [];
    let isMore = hasMore || skipped > 0;
    try {
      for (const isSlow of [true, false]) {
        const [slots, max] = isSlow ? [limits.slow, slowClaimMax] : [limits.healthy, claimMax];
        const groupsOfClass = groups.filter(({ key }) => endpoints.get(key)?.slow === isSlow);
        const limit = Math.min(slots.limits.slots - slots.usedAndQueued(), max - claimed.length);
        for (const row of await claimDue<ClaimedRow>(orm, dueDeliveries, groupsOfClass, slots, { limit, leaseMs })) {
          const endpoint = endpoints.get(row.endpoint_id);
          if (endpoint) claimed.push({ ...row, ...endpoint });
        }
        isMore ||= claimed.length === max;
      }
    } catch (error) {
      // Without this release, no process could send these deliveries until their leases expire.
      await release(orm, claimed).catch(() => {});
      throw error;
    }
    return { claimed, dueEndpoints: [...endpoints.keys()], isMore };
  };
}

async function readActiveEndpoints(orm: Orm, groups: readonly DueGroup[]): Promise<ReadonlyMap<string, DeliveryEndpoint>> {
  const rows = await preparedQuery<DeliveryEndpoint>(
    orm.em,
    `select e.id as endpoint_id, e.url, e.slow, e.updated_at::text as endpoint_updated_at, ${signingSecretsSql}
     from webhook_endpoint e where e.id = any($1::uuid[]) and e.status = 'ACTIVE'`,
    [groups.map(({ key }) => key)],
  );
  return new Map(rows.map((row) => [row.endpoint_id, row]));
}

/**
 * Sets at most 1000 due deliveries to the given endpoints to SKIPPED. The statement checks the
 * status of the endpoints again, because the business may have enabled an endpoint after
 * `readActiveEndpoints`. Returns the number of changed deliveries.
 *
 * The statement searches the index `delivery_due` once for each group. With a join, PostgreSQL
 * could keep a plan from a time with few pending deliveries. Such a plan reads the due deliveries
 * of all businesses.
 */
async function skip(orm: Orm, groups: readonly DueGroup[]): Promise<number> {
  if (groups.length === 0) return 0;
  const rows = await preparedQuery(
    orm.em,
    `update delivery set status = 'SKIPPED', next_attempt_at = null, lease_token = null, leased_until = null
     where id = any(array(
       select d.id from jsonb_to_recordset($1::jsonb) as g (tenant uuid, key uuid) cross join lateral (
         select id from delivery
         where business_id = g.tenant and endpoint_id = g.key and status = 'PENDING' and ${endpointDueAtSql} <= now()
         order by ${endpointDueAtSql} limit (select 1000) for update skip locked
       ) d
       where (select e.status from webhook_endpoint e where e.id = g.key) is distinct from 'ACTIVE'
       limit 1000
     )) returning 1`,
    [JSON.stringify(groups)],
  );
  return rows.length;
}

/**
 * Removes the leases of deliveries without counting an attempt, so that any process can claim the
 * deliveries again. Because of the condition with "any", PostgreSQL reads only these deliveries,
 * even if the table was almost empty when PostgreSQL planned the statement.
 */
export async function release(orm: Orm, deliveries: readonly LeasedDelivery[]): Promise<void> {
  await preparedQuery(
    orm.em,
    `update delivery set lease_token = null, leased_until = null
     from unnest($1::uuid[], $2::uuid[]) as r (id, token)
     where delivery.id = any($1::uuid[]) and delivery.id = r.id and delivery.lease_token = r.token`,
    [deliveries.map(({ id }) => id), deliveries.map(({ lease_token }) => lease_token)],
  );
}
