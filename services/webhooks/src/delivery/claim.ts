import { namedQuery, type Orm } from "@amana/database";
import { uuidv7 } from "@amana/runtime";
import { type SealedSecrets, signingSecrets } from "../webhook-endpoint/secrets.ts";

/**
 * SLOW: the endpoint's last answer took long, or did not come. NEW: this process has had no answer
 * in time from it yet, or waits for one. QUICK: all others.
 */
export type Lane = "QUICK" | "NEW" | "SLOW";

/** What this process can take, in the form in which the statements that lease want it. */
export interface Room {
  /** Of deliveries in all; of those the ones in the lane NEW, and SLOW. */
  readonly free: { readonly total: number; readonly fresh: number; readonly slow: number };
  readonly perBusiness: { readonly quick: number; readonly slow: number };
  /** For an endpoint that is not in `endpoints`, which is NEW or SLOW. */
  readonly perEndpoint: { readonly fresh: number; readonly slow: number };
  readonly endpoints: readonly { id: string; free: number; free_slow: number; is_new: boolean }[];
  /** What they hold in the lane SLOW, and in the others. */
  readonly businesses: readonly { id: string; held: number; held_slow: number }[];
}

/** Longer than waiting here and recording can take, so that only a crash lets a lease end. */
export const leaseMarginMs = 20_000;

/** So many are taken at once: each is some work, and new deliveries wait behind all of it. */
export const claimMax = 64;

/** A delivery that this process alone may send until its lease ends. */
export interface ClaimedDelivery extends NewDelivery {
  readonly lease_token: string;
}

/** One that came to be: leased to this process, or due for whoever has room. */
export interface NewDelivery extends SealedSecrets {
  readonly id: string;
  readonly lease_token: string | null;
  readonly status: "PENDING" | "SKIPPED";
  readonly attempts: number;
  /** Its first attempt is still to come; false for one that was started anew. */
  readonly is_first: boolean;
  readonly event_id: string;
  readonly type: string;
  readonly body: string;
  readonly business_id: string;
  readonly lane: Lane;
  readonly url: string;
  /** The event's. */
  readonly traceparent: string | null;
}

/** When it may be taken: after its pause and after the lease of whoever holds it. */
export const dueAt = "greatest(next_attempt_at, leased_until)";
/** The same as the index says it in which all deliveries stand by their time. */
const dueAtOfAny = "greatest(leased_until, next_attempt_at)";

/**
 * `waiting`: the endpoints that something is due for, found by its time. When more is due than a
 * look shows, the oldest may all be one business's: then all endpoints that something is pending
 * for, stepped through in the index, which costs the same however many deliveries each of them has.
 */
export const endpointsWaiting = `
  with recursive oldest as materialized (
    select business_id, endpoint_id from delivery where status = 'PENDING' and ${dueAtOfAny} <= now() order by ${dueAtOfAny} limit 500
  ), seen as (
    select count(*) < 500 as "all" from oldest
  ), stepped as (
    (select business_id, endpoint_id from delivery
      where status = 'PENDING' and not (select "all" from seen) order by business_id, endpoint_id limit 1)
    union all
    select next.business_id, next.endpoint_id
    from stepped s cross join lateral (
      select business_id, endpoint_id from delivery
      where status = 'PENDING' and (business_id, endpoint_id) > (s.business_id, s.endpoint_id)
      order by business_id, endpoint_id limit 1
    ) next
  ), waiting as (
    select distinct business_id, endpoint_id from oldest where (select "all" from seen)
    union all select business_id, endpoint_id from stepped
  )`;

/** Those with room, and how much; DISABLED or gone ones have lane NONE and all the room. */
const open = `
  share as (
    select * from (values ('QUICK', $3::int, $4::int, 0), ('NEW', $5::int, $4, $6::int), ('SLOW', $7::int, $8::int, $9::int),
      ('NONE', $3, $3, $3)) as s (lane, free, per_business, per_endpoint)
  ), open as (
    select p.business_id, p.endpoint_id, s.lane, s.free, s.per_business, coalesce(b.held, 0) as business_held, h.free as endpoint_free
    from waiting p
    left join webhook_endpoint e on e.id = p.endpoint_id
    left join jsonb_to_recordset($1::jsonb) as known (id uuid, free int, free_slow int, is_new boolean) on known.id = p.endpoint_id
    left join jsonb_to_recordset($2::jsonb) as by_business (id uuid, held int, held_slow int) on by_business.id = p.business_id
    join share s on s.lane = case when e.status is distinct from 'ACTIVE' then 'NONE' when e.slow then 'SLOW'
      when coalesce(known.is_new, true) then 'NEW' else 'QUICK' end
    cross join lateral (
      select coalesce(case s.lane when 'SLOW' then known.free_slow when 'NONE' then null else known.free end, s.per_endpoint) as free
    ) h
    cross join lateral (
      select case s.lane when 'SLOW' then by_business.held_slow when 'NONE' then null else by_business.held end as held
    ) b
    where s.free > 0 and h.free > 0 and s.per_business > coalesce(b.held, 0)
  )`;

/**
 * Takes due deliveries, in one statement and by the database's clock, so that nobody else takes
 * them before the lease ends. Businesses take turns: who holds the fewest places is next, whatever
 * it has waiting, and nobody gets more than its share. Deliveries that come due while their
 * endpoint is DISABLED, or gone, end here as SKIPPED; they are among the rows only to say that
 * there was something to do.
 */
export async function claimDue(orm: Orm, room: Room, leaseMs: number): Promise<ClaimedDelivery[]> {
  const { endpoints, businesses, free, perBusiness, perEndpoint } = room;
  return await namedQuery<ClaimedDelivery>(
    orm.em,
    "delivery_claim",
    `${endpointsWaiting}, ${open}, due as (
       select d.id, o.lane, o.free, o.per_business, d.due_at,
         o.business_held + row_number() over (partition by o.business_id, o.lane order by d.due_at) as turn
       from open o cross join lateral (
         select id, ${dueAt} as due_at from delivery
         where business_id = o.business_id and endpoint_id = o.endpoint_id and status = 'PENDING' and ${dueAt} <= now()
         order by ${dueAt} limit o.endpoint_free
       ) d
     ), next as (
       select id, lane from (select *, row_number() over (partition by lane order by turn, due_at) as number from due) d
       where turn <= per_business and number <= free
       order by turn, due_at limit least($3, ${claimMax})
     ), mine as (
       select id from delivery
       where id in (select id from next) and status = 'PENDING' and ${dueAt} <= now()
       for update skip locked
     ), claimed as (
       update delivery d
       set status = case when n.lane <> 'NONE' then 'PENDING' else 'SKIPPED' end,
           next_attempt_at = case when n.lane <> 'NONE' then d.next_attempt_at end,
           lease_token = case when n.lane <> 'NONE' then $10::uuid end,
           leased_until = case when n.lane <> 'NONE' then now() + $11 * interval '1 millisecond' end
       from mine m join next n on n.id = m.id
       where d.id = m.id
       returning d.id, d.lease_token, d.status, d.attempts, d.attempts = 0 and d.next_attempt_at = d.created_at as is_first, d.event_id, d.business_id, d.endpoint_id, n.lane
     )
     select c.*, v.type, v.body, v.traceparent, e.url, ${signingSecrets}
     from claimed c join event v on v.id = c.event_id left join webhook_endpoint e on e.id = c.endpoint_id`,
    [
      ...[JSON.stringify(endpoints), JSON.stringify(businesses)],
      ...[free.total, perBusiness.quick, Math.min(free.total, free.fresh), perEndpoint.fresh],
      ...[free.slow, perBusiness.slow, perEndpoint.slow],
      ...[uuidv7(), leaseMs],
    ],
  );
}

/** Milliseconds until any is due or its lease ends: negative overdue, undefined none pending. */
export async function untilDueMs(orm: Orm): Promise<number | undefined> {
  const [row] = await namedQuery<{ ms: number }>(
    orm.em,
    "delivery_until_due",
    `select (extract(epoch from ${dueAtOfAny} - now()) * 1000)::float8 as ms
     from delivery where status = 'PENDING' order by ${dueAtOfAny} limit 1`,
    [],
  );
  return row?.ms;
}

/** Gives claims back unused. */
export async function release(orm: Orm, deliveries: readonly ClaimedDelivery[]): Promise<void> {
  await namedQuery(
    orm.em,
    "delivery_release",
    `update delivery set lease_token = null, leased_until = null
     from unnest($1::uuid[], $2::uuid[]) as r (id, token)
     where delivery.id = r.id and delivery.lease_token = r.token`,
    [deliveries.map(({ id }) => id), deliveries.map(({ lease_token }) => lease_token)],
  );
}
