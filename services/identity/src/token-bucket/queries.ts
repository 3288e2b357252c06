import type { Draw } from "@amana/contracts/identity/v1/rate_limit_service_pb";
import { preparedQuery } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

/**
 * Draws tokens from buckets. `draws` must contain each bucket at most once. Returns the remaining
 * tokens of each bucket. The number is negative if the bucket had too few tokens.
 */
export async function drawFromBuckets(em: SqlEntityManager, draws: readonly Draw[]): Promise<Map<string, number>> {
  const rows = await preparedQuery<{ name: string; tokens: number }>(
    em,
    // All gateways lock the buckets in the order of their names, which prevents deadlocks.
    `insert into token_bucket as bucket (name, per_second, burst, tokens, at)
     select name, per_second, burst, burst - drawn, clock_timestamp()
     from unnest($1::text[], $2::float8[], $3::float8[], $4::float8[]) as draw (name, per_second, burst, drawn)
     order by name collate "C"
     on conflict (name) do update set
       tokens = least(excluded.burst,
         bucket.tokens + greatest(extract(epoch from excluded.at - bucket.at), 0) * excluded.per_second
       ) - (excluded.burst - excluded.tokens),
       per_second = excluded.per_second, burst = excluded.burst, at = greatest(excluded.at, bucket.at)
     returning name, tokens`,
    [
      draws.map(({ bucket }) => bucket),
      draws.map(({ perSecond }) => perSecond),
      draws.map(({ burst }) => burst),
      draws.map(({ tokens }) => tokens),
    ],
  );
  return new Map(rows.map(({ name, tokens }) => [name, tokens]));
}

const batchSizeDefault = 1_000;

/**
 * Deletes full buckets, because a missing bucket counts as full. Works in batches by name, so that
 * no statement exceeds its timeout. Skips locked buckets.
 */
export async function deleteFullBuckets(em: SqlEntityManager, batchSize = batchSizeDefault): Promise<void> {
  for (let lastName: string | null = ""; lastName !== null; ) {
    const [row]: { last: string | null }[] = await preparedQuery(
      em,
      `with full_bucket as materialized (
         select name from token_bucket
         where name > $1 and at + make_interval(secs => (burst - tokens) / per_second) < now()
         order by name limit $2 for update skip locked
       ), deleted as (
         delete from token_bucket where name = any (array(select name from full_bucket))
       )
       select max(name) as last from full_bucket`,
      [lastName, batchSize],
    );
    lastName = row?.last ?? null;
  }
}
