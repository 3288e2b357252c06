import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import { type ResolveBusinessResponse, ResolveBusinessResponseSchema } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { BusinessCache } from "./business-cache.ts";

/** Creates a cache whose clock and identity are controlled by the test. */
function createCache({ leasesMax = 10, leaseMs = 500 } = {}) {
  let nowMs = 1_000;
  const lookUps: { id: string; respond: (status?: BusinessStatus) => void; fail: () => void }[] = [];
  const cache = new BusinessCache({
    nowMs: () => nowMs,
    leasesMax,
    lookUp: (id) => {
      const { promise, resolve, reject } = Promise.withResolvers<ResolveBusinessResponse>();
      const respond = (status: BusinessStatus = BusinessStatus.ACTIVE) =>
        resolve(create(ResolveBusinessResponseSchema, { name: `Business ${id}`, status, leaseMs }));
      lookUps.push({ id, respond, fail: () => reject(new Error("identity is unreachable")) });
      return promise;
    },
  });
  return {
    lookUps,
    resolve: (id: string) => cache.resolve(id),
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

/** Resolves after the look-ups of earlier requests are sent. */
const waitUntilSent = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

async function createCacheWithLease(options: Parameters<typeof createCache>[0] = {}) {
  const cache = createCache(options);
  const resolved = cache.resolve("a");
  await waitUntilSent();
  cache.pass(100);
  cache.lookUps[0]?.respond();
  await resolved;
  return cache;
}

test("BusinessCache returns an active business without another look-up until the lease ends 500 ms after the look-up was sent", async () => {
  const cache = await createCacheWithLease();
  cache.pass(399);
  expect(await cache.resolve("a")).toEqual({ name: "Business a", isActive: true });
  expect(cache.lookUps).toHaveLength(1);
  cache.pass(1);
  void cache.resolve("a");
  await waitUntilSent();
  expect(cache.lookUps).toHaveLength(2);
});

test("BusinessCache sends another look-up for a request that arrives while an earlier look-up is in flight", async () => {
  const cache = createCache();
  const before = [cache.resolve("a"), cache.resolve("a")];
  await waitUntilSent();
  expect(cache.lookUps).toHaveLength(1);
  const after = cache.resolve("a");
  await waitUntilSent();
  expect(cache.lookUps).toHaveLength(2);
  cache.lookUps[0]?.respond(BusinessStatus.ACTIVE);
  expect((await Promise.all(before)).map(({ isActive }) => isActive)).toEqual([true, true]);
  cache.lookUps[1]?.respond(BusinessStatus.DISABLED);
  expect((await after).isActive).toBe(false);
});

test.each(["DISABLED", "PENDING", "REJECTED", "UNSPECIFIED"] as const)(
  "BusinessCache resolves a business in the status %s as not active, and does not cache the business",
  async (status) => {
    const cache = createCache();
    for (const index of [0, 1]) {
      const resolved = cache.resolve("a");
      await waitUntilSent();
      cache.lookUps[index]?.respond(BusinessStatus[status]);
      expect((await resolved).isActive).toBe(false);
    }
  },
);

test("BusinessCache does not cache a business when identity grants a lease of 0 ms", async () => {
  const cache = await createCacheWithLease({ leaseMs: 0 });
  void cache.resolve("a");
  await waitUntilSent();
  expect(cache.lookUps).toHaveLength(2);
});

test("BusinessCache ends a lease 500 ms after the look-up was sent, even if identity granted a lease of a minute", async () => {
  const cache = await createCacheWithLease({ leaseMs: 60_000 });
  cache.pass(400);
  void cache.resolve("a");
  await waitUntilSent();
  expect(cache.lookUps).toHaveLength(2);
});

test("`resolve` of BusinessCache rejects while identity is unreachable, and sends another look-up for the next request", async () => {
  const cache = createCache();
  const failed = cache.resolve("a");
  await waitUntilSent();
  cache.lookUps[0]?.fail();
  await expect(failed).rejects.toThrow("identity is unreachable");
  const resolved = cache.resolve("a");
  await waitUntilSent();
  cache.lookUps[1]?.respond();
  expect((await resolved).isActive).toBe(true);
});

test("BusinessCache removes the oldest lease when it adds a lease and already holds leasesMax leases", async () => {
  const cache = await createCacheWithLease({ leasesMax: 1 });
  const second = cache.resolve("b");
  await waitUntilSent();
  cache.lookUps[1]?.respond();
  await second;
  void cache.resolve("a");
  await waitUntilSent();
  expect(cache.lookUps.map(({ id }) => id)).toEqual(["a", "b", "a"]);
});
