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

/** A bucket that is full again is as good as none. */
export async function forgetFullBuckets(em: SqlEntityManager): Promise<void> {
  await namedQuery(
    em,
    "full_buckets_forgotten",
    `delete from token_bucket where name in (
       select name from token_bucket where at + make_interval(secs => (burst - tokens) / per_second) < now()
       for update skip locked
     )`,
    [],
  );
}
