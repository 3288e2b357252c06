import { namedQuery } from "@amana/database";
import type { SqlEntityManager } from "@mikro-orm/postgresql";

/** What one gateway took from a bucket that refills by itself. */
export interface Taken {
  readonly bucket: string;
  readonly perSecond: number;
  readonly burst: number;
  readonly tokens: number;
}

/** Takes from each bucket, given once each, and says what is left, below 0 if it was too much. */
export async function takeTokens(em: SqlEntityManager, taken: readonly Taken[]): Promise<Map<string, number>> {
  const rows = await namedQuery<{ name: string; tokens: number }>(
    em,
    "tokens_taken",
    // In the order of their names, so that two gateways never wait for each other.
    `insert into token_bucket as kept (name, per_second, burst, tokens, at)
     select name, per_second, burst, burst - taken, clock_timestamp()
     from unnest($1::text[], $2::float8[], $3::float8[], $4::float8[]) as asked (name, per_second, burst, taken)
     order by name collate "C"
     on conflict (name) do update set
       tokens = least(excluded.burst,
         kept.tokens + greatest(extract(epoch from excluded.at - kept.at), 0) * excluded.per_second
       ) - (excluded.burst - excluded.tokens),
       per_second = excluded.per_second, burst = excluded.burst, at = greatest(excluded.at, kept.at)
     returning name, tokens`,
    [
      taken.map(({ bucket }) => bucket),
      taken.map(({ perSecond }) => perSecond),
      taken.map(({ burst }) => burst),
      taken.map(({ tokens }) => tokens),
    ],
  );
  return new Map(rows.map(({ name, tokens }) => [name, tokens]));
}

const batchBuckets = 1_000;

/**
 * Deletes full buckets, because a missing bucket counts as full. Deletes them in batches by name,
 * so that no statement exceeds its timeout. Skips locked buckets until the next call.
 */
export async function forgetFullBuckets(em: SqlEntityManager, batch = batchBuckets): Promise<void> {
  for (let last: string | null = ""; last !== null; ) {
    const [row]: { last: string | null }[] = await namedQuery(
      em,
      "full_buckets_forgotten",
      `with full_again as materialized (
         select name from token_bucket
         where name > $1 and at + make_interval(secs => (burst - tokens) / per_second) < now()
         order by name limit $2 for update skip locked
       ), deleted as (
         delete from token_bucket where name = any (array(select name from full_again))
       )
       select max(name) as last from full_again`,
      [last, batch],
    );
    last = row?.last ?? null;
  }
}
