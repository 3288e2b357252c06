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

/**
 * Returns the deliveries of an event, newest first, with their newest attempts. The query needs no
 * limit, because a business has few endpoints. If `withResponses` is false, the attempts omit the
 * response bodies.
 */
export async function readDeliveries(
  em: SqlEntityManager,
  businessId: string,
  eventId: string,
  { attemptsMax = attemptsShownMax, withResponses = true } = {},
): Promise<Delivery[]> {
  const rows = await preparedQuery<DeliveryJson>(
    em,
    `select ${deliveryJsonSql("a.attempts")}
     from delivery d
     left join lateral (
       select json_agg(json_build_object('atMs', ${msOf("n.at")}, 'statusCode', n.status_code, 'error', n.error,
         'failure', 'DELIVERY_FAILURE_' || n.failure, 'durationMs', n.duration_ms, 'response', case when $4 then n.response end) order by n.id) as attempts
       from (select * from delivery_attempt where delivery_id = d.id order by id desc limit $3) n
     ) a on true
     where d.business_id = $1 and d.event_id = $2
     order by d.created_at desc, d.id desc`,
    [businessId, eventId, attemptsMax, withResponses],
  );
  return rows.map(toDelivery);
}
