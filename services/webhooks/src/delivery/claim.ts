import { namedQuery, type Orm } from "@amana/database";
import { uuidv7 } from "@amana/runtime";

/** A delivery that this process alone may send until its lease ends, with all that sending it takes. */
export interface ClaimedDelivery {
  id: string;
  lease_token: string;
  status: "PENDING" | "SKIPPED";
  attempts: number;
  event_id: string;
  type: string;
  body: string;
  endpoint_id: string;
  url: string;
  secret_ciphertext: string;
  /** While it is still good. */
  previous_secret_ciphertext: string | null;
}

export interface Room {
  /** How many may be sent in all, and to an endpoint that nothing is being sent to. */
  readonly total: number;
  readonly perEndpoint: number;
  /** How many more may be sent to the endpoints that something is being sent to. */
  readonly left: ReadonlyMap<string, number>;
}

const full = (room: Room) => [...room.left].filter(([, left]) => left <= 0).map(([endpointId]) => endpointId);

/**
 * Takes due deliveries, in one statement and by the database's clock, so that nobody else takes them before the lease
 * ends. Deliveries that come due while their endpoint is DISABLED, or gone, end here as SKIPPED, as many as there is room
 * for in all, so that they hold up no others for long; they are among the rows only to say that there was something to do.
 */
export async function claimDue(orm: Orm, room: Room, leaseMs: number): Promise<ClaimedDelivery[]> {
  return await namedQuery<ClaimedDelivery>(
    orm.em,
    "delivery_claim",
    `with due as (
       select id, endpoint_id, greatest(next_attempt_at, leased_until) as due_at
       from delivery
       where status = 'PENDING' and greatest(next_attempt_at, leased_until) <= now() and endpoint_id <> all($2::uuid[])
       order by greatest(next_attempt_at, leased_until)
       limit $1
       for update skip locked
     ), turn as (
       select id, endpoint_id, row_number() over (partition by endpoint_id order by due_at) as number from due
     ), claimed as (
       update delivery d
       set status = case when e.status = 'ACTIVE' then 'PENDING' else 'SKIPPED' end,
           next_attempt_at = case when e.status = 'ACTIVE' then d.next_attempt_at end,
           lease_token = case when e.status = 'ACTIVE' then $3::uuid end,
           leased_until = case when e.status = 'ACTIVE' then now() + $4 * interval '1 millisecond' end
       from turn t
       left join unnest($5::uuid[], $6::int[]) as b (endpoint_id, free) on b.endpoint_id = t.endpoint_id
       left join webhook_endpoint e on e.id = t.endpoint_id
       where d.id = t.id and (e.status is distinct from 'ACTIVE' or t.number <= coalesce(b.free, $7))
       returning d.id, d.lease_token, d.status, d.attempts, d.event_id, d.endpoint_id,
         e.url, e.secret_ciphertext,
         case when e.previous_secret_until > now() then e.previous_secret_ciphertext end as previous_secret_ciphertext
     )
     select c.*, v.type, v.body from claimed c join event v on v.id = c.event_id`,
    [room.total, full(room), uuidv7(), leaseMs, [...room.left.keys()], [...room.left.values()], room.perEndpoint],
  );
}

/**
 * Milliseconds until something can be claimed: a delivery comes due or a lease ends, at an endpoint with room.
 * Negative when it is overdue, undefined when nothing is pending.
 */
export async function untilDueMs(orm: Orm, room: Room): Promise<number | undefined> {
  const [row] = await namedQuery<{ ms: number | null }>(
    orm.em,
    "delivery_until_due",
    `select (extract(epoch from min(due_at) - now()) * 1000)::float8 as ms
     from (
       select greatest(next_attempt_at, leased_until) as due_at from delivery
       where status = 'PENDING' and endpoint_id <> all($1::uuid[])
       order by greatest(next_attempt_at, leased_until) limit 1
     ) next`,
    [full(room)],
  );
  return row?.ms ?? undefined;
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
