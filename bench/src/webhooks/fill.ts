import type { System } from "@amana/dev-env/system";
import pg from "pg";
import type { Business } from "./webhooks-system.ts";

/** The deliveries to insert. SUCCEEDED deliveries are in the past, PENDING deliveries are due. */
export interface FillOptions {
  readonly status: "SUCCEEDED" | "PENDING";
  readonly deliveries: number;
  /** Number of the run. Each event id contains it. */
  readonly run: number;
}

const batchSize = 5_000;

/**
 * Inserts events into the database of webhooks, with a delivery to each endpoint of the business.
 */
export async function fillDeliveries(
  system: System,
  { id, endpointIds }: Business,
  { status, deliveries, run }: FillOptions,
): Promise<void> {
  const client = new pg.Client({ connectionString: system.ownerDatabaseUrls["webhooks"] });
  await client.connect();
  const events = Math.ceil(deliveries / endpointIds.length);
  for (let from = 0; from < events; from += batchSize) {
    await client.query(fillSql, [id, endpointIds, status, from, Math.min(events, from + batchSize) - 1, events, run]);
  }
  // Vacuums now, so that autovacuum does not run during the measurement.
  for (const table of ["event", "delivery", "delivery_attempt"]) await client.query(`vacuum (analyze) ${table}`);
  await client.end();
}

const fillSql = `
  with added as (
    insert into event (id, business_id, type, body, created_at)
    select (substr(uuidv7(made - now())::text, 1, 24) || lpad(to_hex($7::int), 4, '0') || lpad(to_hex(i), 8, '0'))::uuid, $1::uuid,
      'PAYMENT_REFUNDED', json_build_object('event', 'PAYMENT_REFUNDED', 'business_id', $1::uuid, 'padding', repeat('x', 400))::text, made
    from (
      select i, now() - case when $3 = 'PENDING' then interval '0' else (1 - i::float8 / $6::int) * interval '25 days' + interval '1 hour' end as made
      from generate_series($4::int, $5::int) i
    ) n
    returning id, business_id, created_at
  ), sent as (
    insert into delivery (id, business_id, event_id, endpoint_id, status, attempts, next_attempt_at, created_at)
    select uuidv7(created_at - now()), business_id, added.id, endpoint_id, $3::text, case when $3 = 'PENDING' then 0 else 1 end,
      case when $3 = 'PENDING' then now() end, created_at
    from added, unnest($2::uuid[]) as endpoint_id
    returning id, business_id, status, created_at
  )
  insert into delivery_attempt (delivery_id, business_id, at, status_code, duration_ms)
  select id, business_id, created_at, 200, 12 from sent where status = 'SUCCEEDED'`;
