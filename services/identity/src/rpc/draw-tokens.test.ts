import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asAdmin, asPlatform, type Identity, startIdentityForTest } from "../../test/harness.ts";
import { deleteFullBuckets } from "../token-bucket/queries.ts";

let identity: Identity;
beforeAll(async () => {
  identity = await startIdentityForTest();
});
afterAll(() => identity[Symbol.asyncDispose]());

const slowBucket = { perSecond: 0.001, burst: 10 };
const draw = async (...draws: { bucket: string; tokens: number; perSecond?: number; burst?: number }[]) => {
  const { left } = await identity.rateLimits.drawTokens({ draws: draws.map((draw) => ({ ...slowBucket, ...draw })) }, asPlatform);
  return left.map(Math.round);
};
const ageBucket = (bucket: string, seconds: number) =>
  identity.orm.em
    .getConnection()
    .execute("update token_bucket set at = at - make_interval(secs => ?) where name = ?", [seconds, bucket]);

test("drawTokens creates a full bucket at the first draw, and subtracts drawn tokens even if the result is below 0", async () => {
  expect(await draw({ bucket: "kyc a", tokens: 3 })).toEqual([7]);
  expect(await draw({ bucket: "kyc a", tokens: 5 })).toEqual([2]);
  expect(await draw({ bucket: "kyc a", tokens: 6 }, { bucket: "kyc b", tokens: 1 })).toEqual([-4, 9]);
});

test("drawTokens returns the remaining tokens of several buckets in the order of the draws", async () => {
  expect(await draw({ bucket: "kyc z", tokens: 1 }, { bucket: "kyc c", tokens: 2 }, { bucket: "refund c", tokens: 3 })).toEqual([
    9, 8, 7,
  ]);
});

test("drawTokens refills a bucket at the bucket's rate, starting from a negative number of tokens and stopping at the capacity", async () => {
  const bucketOptions = { bucket: "kyc back", perSecond: 1, burst: 10 };
  expect(await draw({ ...bucketOptions, tokens: 14 })).toEqual([-4]);
  await ageBucket(bucketOptions.bucket, 9);
  expect(await draw({ ...bucketOptions, tokens: 0 })).toEqual([5]);
  await ageBucket(bucketOptions.bucket, 3_600);
  expect(await draw({ ...bucketOptions, tokens: 1 })).toEqual([9]);
});

test("drawTokens neither adds nor removes tokens for elapsed time if the database's clock was set back", async () => {
  const bucketOptions = { bucket: "kyc clock", perSecond: 1, burst: 10 };
  await draw({ ...bucketOptions, tokens: 5 });
  await ageBucket(bucketOptions.bucket, -3_600);
  expect(await draw({ ...bucketOptions, tokens: 1 })).toEqual([4]);
});

test("drawTokens accepts concurrent requests that draw from the same buckets in different orders", async () => {
  const names = Array.from({ length: 50 }, (_, i) => `kyc many ${i}`);
  const drawAll = (buckets: string[]) => draw(...buckets.map((bucket) => ({ bucket, tokens: 1, burst: 1_000 })));
  await Promise.all(Array.from({ length: 20 }, (_, i) => drawAll(i % 2 ? names : names.toReversed())));
  expect(await draw(...names.map((bucket) => ({ bucket, tokens: 0, burst: 1_000 })))).toEqual(names.map(() => 980));
});

test("deleteFullBuckets deletes a full rate-limit bucket, and does not delete a bucket that is not full", async () => {
  await draw({ bucket: "kyc full", tokens: 1 }, { bucket: "kyc not full", tokens: 1 });
  await ageBucket("kyc full", 1_001);
  await ageBucket("kyc not full", 900);
  await deleteFullBuckets(identity.orm.em.fork());
  const rows = await identity.orm.em.getConnection().execute("select name from token_bucket where name like 'kyc %full'");
  expect(rows).toEqual([{ name: "kyc not full" }]);
});

test("deleteFullBuckets deletes full rate-limit buckets in batches, and skips a locked bucket", async () => {
  await identity.sql("delete from token_bucket");
  await identity.sql(`create table deleted_buckets (count int);
    create function count_deleted() returns trigger language plpgsql as $$
      begin insert into deleted_buckets select count(*) from deleted; return null; end $$;
    create trigger count_deleted after delete on token_bucket referencing old table as deleted
      for each statement execute function count_deleted();
    grant insert on deleted_buckets to public`);
  const names = Array.from({ length: 6 }, (_, i) => `kyc batch ${i}`);
  await draw(...names.map((bucket) => ({ bucket, tokens: 1 })));
  for (const name of names) await ageBucket(name, 1_001);
  await identity.transaction(async (em) => {
    await em.execute("select from token_bucket where name = 'kyc batch 3' for update");
    await deleteFullBuckets(identity.orm.em.fork(), 2);
  });
  const counts = await identity.sql<{ count: number }>("select count from deleted_buckets where count > 0");
  expect(counts.map(({ count }) => count)).toEqual([2, 2, 1]);
  expect(await identity.sql("select name from token_bucket")).toEqual([{ name: "kyc batch 3" }]);
});

test("drawTokens rejects callers other than the platform", async () => {
  for (const call of [asAdmin, { caller: aBusinessCaller() }]) {
    await expect(identity.rateLimits.drawTokens({ draws: [] }, call)).rejects.toMatchObject({ code: "platform_required" });
  }
});
