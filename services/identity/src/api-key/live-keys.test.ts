import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Identity, startIdentityForTest } from "../../test/harness.ts";
import { businessView } from "../business/business.message.ts";
import { lockBusiness } from "../business/business.ts";
import { lockKeyRing } from "./key-ring.ts";

let identity: Identity;
let business: Awaited<ReturnType<Identity["aBusiness"]>>;
beforeAll(async () => {
  identity = await startIdentityForTest();
  business = await identity.aBusiness();
  await identity.sql(
    `insert into business (id, name, status, created_at, updated_at)
     select md5(i::text)::uuid, 'Other', 'ACTIVE', now(), now() from generate_series(1, 2000) i`,
  );
  await identity.sql(
    `insert into api_key (id, business_id, name, prefix, hash, created_at)
     select uuidv7(), md5(i::text)::uuid, 'default', 'sk_test_other', sha256(i::text::bytea), now() from generate_series(1, 2000) i`,
  );
  await identity.sql("analyze");
  await identity.sql(
    `insert into api_key (id, business_id, name, prefix, hash, created_at, expires_at)
     select uuidv7(), ?::uuid, 'expired ' || i, 'sk_test_expired', sha256(('expired' || i)::bytea), now() + i * interval '1 ms',
       now() - interval '1 hour' from generate_series(1, 5000) i`,
    [business.id],
  );
});
afterAll(() => identity[Symbol.asyncDispose]());

/** Maximum number of index entries and rows that identity may read for one live key. */
const readMax = 20;

const planCacheModes = ["force_generic_plan", "force_custom_plan"];
// The tests run in this order. The last two tests run after the expired keys have been analyzed.
const plans = ["before", "after"].flatMap((statistics) => planCacheModes.map((mode) => ({ mode, statistics })));

test.each(plans)(
  "identity reads only the live keys of a business with 5000 expired keys ($mode, statistics from $statistics their insertion)",
  async ({ mode, statistics }) => {
    if (statistics === "after") await identity.sql("analyze");
    const readPrefix = (em: SqlEntityManager) =>
      em.execute<object[]>(`select ${businessView.columns} from business where id = ?`, [business.id]);
    const readRing = async (em: SqlEntityManager) => await lockKeyRing(em, await lockBusiness(em, business.id), "test");
    for (const read of [readPrefix, readRing]) {
      await identity.transaction(async (em) => {
        await em.execute(`set local plan_cache_mode = ${mode}`);
        const before = await countReads(em);
        await read(em);
        expect((await countReads(em)) - before).toBeLessThanOrEqual(readMax);
      });
    }
  },
);

/**
 * Returns the number of index entries and rows of keys that the connection has read. The number
 * includes reads of earlier transactions until PostgreSQL publishes their counts, which it does at
 * most once a second.
 */
async function countReads(em: SqlEntityManager): Promise<number> {
  const [counts] = await em.execute<{ reads: number }[]>(
    `select sum(pg_stat_get_xact_tuples_returned(relation) + pg_stat_get_xact_tuples_fetched(relation))::int as reads from (
       select indexrelid from pg_index where indrelid = 'api_key'::regclass union all select 'api_key'::regclass
     ) relations (relation)`,
  );
  return counts?.reads ?? Number.NaN;
}
