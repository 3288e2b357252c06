import { type Delivery, DeliverySchema } from "@amana/contracts/webhooks/v1/event_pb";
import { preparedQuery } from "@amana/database";
import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

export interface DeliveryJson {
  readonly delivery: JsonValue;
}

const msOf = (column: string) => `floor(extract(epoch from ${column}) * 1000)::bigint`;

/**
 * SQL expression: the delivery `d` as JSON of the protobuf message. `attempts` is the SQL
 * expression for its attempts.
 */
export const deliveryJsonSql = (attempts = "null") => `json_build_object('id', d.id, 'endpointId', d.endpoint_id,
  'status', 'DELIVERY_STATUS_' || d.status, 'nextAttemptAtMs', ${msOf("d.next_attempt_at")}, 'attempts', ${attempts}) as delivery`;

/**
 * Parses the JSON that `deliveryJsonSql` creates. Ignores an enum value that only a newer version
 * supports.
 */
export const toDelivery = ({ delivery }: DeliveryJson): Delivery =>
  fromJson(DeliverySchema, delivery, { ignoreUnknownFields: true });

/**
 * Maximum number of attempts that a response contains for each delivery. Older attempts are
 * omitted.
 */
export const attemptsShownMax = 50;

interface DeliveryOptions {
  /** Maximum number of attempts of each delivery, the newest first. */
  readonly attemptsMax?: number;
  /** If false, the attempts omit the response bodies. Default: true. */
  readonly withResponses?: boolean;
  /** Default: all deliveries, which are few, because a business has few endpoints. */
  readonly limit?: number;
  readonly offset?: number;
}

/** Returns the deliveries of an event, newest first, with their newest attempts. */
export const readDeliveries = async (...query: Parameters<typeof readRows>): Promise<Delivery[]> =>
  (await readRows(...query)).map(toDelivery);

/** Returns a page of the deliveries of an event, and the number of all its deliveries. */
export async function readDeliveryPage(
  em: SqlEntityManager,
  businessId: string,
  eventId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ deliveries: Delivery[]; total: number }> {
  const rows = await readRows(em, businessId, eventId, { limit, offset });
  // A page after the last delivery has no row with the total.
  const [row = { total: 0 }] =
    rows.length > 0 || offset === 0 ? rows : await readRows(em, businessId, eventId, { limit: 1, attemptsMax: 0 });
  return { deliveries: rows.map(toDelivery), total: row.total };
}

const readRows = (
  em: SqlEntityManager,
  businessId: string,
  eventId: string,
  { attemptsMax = attemptsShownMax, withResponses = true, limit, offset = 0 }: DeliveryOptions = {},
): Promise<(DeliveryJson & { readonly total: number })[]> =>
  preparedQuery(
    em,
    `select ${deliveryJsonSql("a.attempts")}, d.total
     from (
       select *, (count(*) over ())::int as total from delivery
       where business_id = $1 and event_id = $2 order by created_at desc, id desc limit $5 offset $6
     ) d
     left join lateral (
       select json_agg(json_build_object('atMs', ${msOf("n.at")}, 'statusCode', n.status_code, 'error', n.error,
         'failure', 'DELIVERY_FAILURE_' || n.failure, 'durationMs', n.duration_ms, 'response', case when $4 then n.response end) order by n.id) as attempts
       from (select * from delivery_attempt where delivery_id = d.id order by id desc limit $3) n
     ) a on true
     order by d.created_at desc, d.id desc`,
    [businessId, eventId, attemptsMax, withResponses, limit ?? null, offset],
  );
