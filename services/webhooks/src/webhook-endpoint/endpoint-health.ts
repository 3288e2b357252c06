import type { WebhookEndpointHealthSchema } from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import { deleteOld, namedQuery, type Orm } from "@amana/database";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { WebhookEndpoint } from "./webhook-endpoint.ts";

/** The attempts of the last day that took about as long as each other. */
interface DayOfAttempts {
  readonly duration_class: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly succeeded_1h: number;
  readonly failed_1h: number;
}

/** Four to each doubling of the time, so that a duration is known to a fifth. */
const classesPerDoubling = 4;
export const durationClassOf = (ms: number): number => Math.floor(classesPerDoubling * Math.log2(Math.max(1, ms)));
const fromMs = (durationClass: number): number => 2 ** (durationClass / classesPerDoubling);

/** By duration, the shortest first: some hundreds of rows, however many attempts there were. */
export async function readDay(em: SqlEntityManager, businessId: string, endpointId: string): Promise<DayOfAttempts[]> {
  return await namedQuery<DayOfAttempts>(
    em,
    "endpoint_health_read",
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

/** What a business sees of how its endpoint does. */
export function healthOf(
  { failingSince, lastError }: Pick<WebhookEndpoint, "failingSince" | "lastError">,
  day: readonly DayOfAttempts[],
): MessageInitShape<typeof WebhookEndpointHealthSchema> {
  const sum = (of: (row: DayOfAttempts) => number) => day.reduce((total, row) => total + of(row), 0);
  const [succeeded, failed] = [sum((row) => row.succeeded), sum((row) => row.failed)];
  return {
    failingSinceMs: failingSince ? BigInt(failingSince.getTime()) : undefined,
    successRate1h: rateOf(
      sum((row) => row.succeeded_1h),
      sum((row) => row.failed_1h),
    ),
    successRate24h: rateOf(succeeded, failed),
    // The endpoint's row remembers it for ever.
    lastError: failingSince || failed > 0 ? (lastError ?? undefined) : undefined,
    p95Ms24h: percentileMs(day, 0.95),
  };
}

const rateOf = (succeeded: number, failed: number): number | undefined =>
  succeeded + failed === 0 ? undefined : succeeded / (succeeded + failed);

/** As if the durations of a class were spread evenly over it. */
function percentileMs(day: readonly DayOfAttempts[], part: number): number | undefined {
  let left = part * day.reduce((total, { succeeded, failed }) => total + succeeded + failed, 0);
  for (const { duration_class, succeeded, failed } of day) {
    const count = succeeded + failed;
    const [low, high] = [fromMs(duration_class), fromMs(duration_class + 1)];
    if (left <= count) return Math.round(low + (high - low) * (left / count));
    left -= count;
  }
  return undefined;
}

/** Deletes the counts that nobody reads any more. Answers how many. */
export const deleteOldHealth = ({ orm }: { readonly orm: Orm }): Promise<number> =>
  deleteOld(orm.em.fork(), { table: "endpoint_health", since: "since", olderThan: "25 hours" });
