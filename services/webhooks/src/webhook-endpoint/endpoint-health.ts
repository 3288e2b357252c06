import type { WebhookEndpointHealthSchema } from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import { deleteOld, type Orm, preparedQuery } from "@amana/database";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { WebhookEndpoint } from "./webhook-endpoint.ts";

/**
 * Numbers of attempts in one duration class by result, for the last day and the last hour (`_1h`).
 */
export interface DayOfAttempts {
  readonly duration_class: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly succeeded_1h: number;
  readonly failed_1h: number;
}

/**
 * Number of duration classes between a duration and twice that duration. With four classes, the
 * computed percentile differs by at most 20 % from the exact percentile.
 */
const classesPerDoubling = 4;
export const durationClassOf = (ms: number): number => Math.floor(classesPerDoubling * Math.log2(Math.max(1, ms)));
const classStartMs = (durationClass: number): number => 2 ** (durationClass / classesPerDoubling);

/**
 * Returns the attempts of the last day by duration class, the class of the shortest durations
 * first. The query reads up to 16 704 rows (288 intervals of five minutes, 58 duration classes),
 * independent of the number of attempts.
 */
export async function readAttemptsOfDay(em: SqlEntityManager, businessId: string, endpointId: string): Promise<DayOfAttempts[]> {
  return await preparedQuery<DayOfAttempts>(
    em,
    `select duration_class, sum(succeeded)::float8 as succeeded, sum(failed)::float8 as failed,
       coalesce(sum(succeeded) filter (where is_new), 0)::float8 as succeeded_1h,
       coalesce(sum(failed) filter (where is_new), 0)::float8 as failed_1h
     from (
       select *, since > now() - interval '1 hour' as is_new from endpoint_health
       where business_id = $1 and endpoint_id = $2 and since > now() - interval '24 hours'
     ) h
     group by duration_class order by duration_class`,
    [businessId, endpointId],
  );
}

/** Returns the endpoint health as shown to the business. */
export function healthOf(
  { failingSince, lastError }: Pick<WebhookEndpoint, "failingSince" | "lastError">,
  day: readonly DayOfAttempts[],
): MessageInitShape<typeof WebhookEndpointHealthSchema> {
  const sumOf = (select: (row: DayOfAttempts) => number) => day.reduce((total, row) => total + select(row), 0);
  const [succeeded, failed] = [sumOf((row) => row.succeeded), sumOf((row) => row.failed)];
  return {
    failingSinceMs: failingSince ? BigInt(failingSince.getTime()) : undefined,
    successRate1h: rateOf(
      sumOf((row) => row.succeeded_1h),
      sumOf((row) => row.failed_1h),
    ),
    successRate24h: rateOf(succeeded, failed),
    // Hides an error that is older than a day, although the row still contains it.
    lastError: failingSince || failed > 0 ? (lastError ?? undefined) : undefined,
    p95Ms24h: percentileMs(day, 0.95),
  };
}

const rateOf = (succeeded: number, failed: number): number | undefined =>
  succeeded + failed === 0 ? undefined : succeeded / (succeeded + failed);

/**
 * Returns a percentile of the durations. Assumes that durations are distributed evenly within a
 * class.
 */
function percentileMs(day: readonly DayOfAttempts[], fraction: number): number | undefined {
  let remaining = fraction * day.reduce((total, { succeeded, failed }) => total + succeeded + failed, 0);
  for (const { duration_class, succeeded, failed } of day) {
    const count = succeeded + failed;
    const [low, high] = [classStartMs(duration_class), classStartMs(duration_class + 1)];
    if (remaining <= count) return Math.round(low + (high - low) * (remaining / count));
    remaining -= count;
  }
  return undefined;
}

/** Deletes counts that are too old for `readAttemptsOfDay`. Returns the number of deleted rows. */
export const deleteOldHealth = ({ orm }: { readonly orm: Orm }): Promise<number> =>
  deleteOld(orm.em.fork(), { table: "endpoint_health", since: "since", olderThan: "25 hours" });
