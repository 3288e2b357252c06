import { keyLeaseMsMax } from "@amana/api-keys";
import {
  type KeyResolutionSchema,
  KeyRole,
  KeyState,
  ResolveKeysResponseSchema,
} from "@amana/contracts/identity/v1/key_lease_service_pb";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { ApiKeyCache, type ResolvedKey } from "./api-key-cache.ts";

const liveKey = { state: KeyState.LIVE, role: KeyRole.BUSINESS, keyId: "k1", keyPrefix: "sk_test_00000000", businessId: "b1" };
type Resolution = MessageInitShape<typeof KeyResolutionSchema>;

/** Creates a cache whose clock, scheduling and identity are controlled by the test. */
function createCache(options: { leaseMs?: number; leasesMax?: number } = {}) {
  let nowMs = 1_000;
  const scheduled: (() => void)[] = [];
  const lookUps: { hashes: string[]; respond: (resolution?: Resolution) => Promise<void>; fail: () => Promise<void> }[] = [];
  const cache = new ApiKeyCache({
    nowMs: () => nowMs,
    schedule: (send) => scheduled.push(send),
    ...(options.leasesMax === undefined ? {} : { leasesMax: options.leasesMax }),
    lookUp: (hashes) => {
      const { promise, resolve, reject } = Promise.withResolvers<ReturnType<typeof response>>();
      const response = (resolution: Resolution) =>
        create(ResolveKeysResponseSchema, { resolutions: hashes.map(() => resolution), leaseMs: options.leaseMs ?? 500 });
      // All handlers of the promise run within one iteration of the event loop.
      const waitForHandlers = () => new Promise<void>((done) => setImmediate(done));
      lookUps.push({
        hashes: hashes.map((hash) => Buffer.from(hash).toString()),
        respond: (resolution = liveKey) => {
          resolve(response(resolution));
          return waitForHandlers();
        },
        fail: () => {
          reject(new Error("identity is unreachable"));
          return waitForHandlers();
        },
      });
      return promise;
    },
  });
  return {
    lookUps,
    isFresh: (key: ResolvedKey) => cache.isFresh(key),
    resolve: (key: string) => cache.resolve(Buffer.from(key).toString("base64")),
    send: () => {
      for (const send of scheduled.splice(0)) send();
    },
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

/** Creates a cache with a lease for the key "a" that begins now. */
async function createCacheWithLease(options: { leaseMs?: number; leasesMax?: number } = {}, resolution: Resolution = liveKey) {
  const cache = createCache(options);
  const resolved = cache.resolve("a");
  cache.send();
  await cache.lookUps[0]?.respond(resolution);
  await resolved;
  return cache;
}

const isCached = (resolved: ResolvedKey | Promise<ResolvedKey>) => !(resolved instanceof Promise);

describe("a lease", () => {
  test("ApiKeyCache returns a key without a look-up until the key's lease ends", async () => {
    const cache = await createCacheWithLease();
    cache.pass(499);
    expect(cache.resolve("a")).toMatchObject({ state: KeyState.LIVE, caller: { businessId: "b1", keyId: "k1" } });
    cache.pass(1);
    expect(isCached(cache.resolve("a"))).toBe(false);
  });

  test("ApiKeyCache counts a lease from the time at which the look-up is sent", async () => {
    const cache = createCache();
    const resolved = cache.resolve("a");
    cache.pass(50);
    cache.send();
    cache.pass(400);
    await cache.lookUps[0]?.respond();
    await resolved;
    cache.pass(99);
    expect(isCached(cache.resolve("a"))).toBe(true);
    cache.pass(1);
    expect(isCached(cache.resolve("a"))).toBe(false);
  });

  test("ApiKeyCache resolves the waiting requests but does not cache the key if the key's lease expires before the look-up's response", async () => {
    const cache = createCache();
    const resolved = cache.resolve("a");
    cache.send();
    cache.pass(500);
    await cache.lookUps[0]?.respond();
    await expect(resolved).resolves.toMatchObject({ state: KeyState.LIVE });
    expect(isCached(cache.resolve("a"))).toBe(false);
  });

  test("ApiKeyCache ends a lease after keyLeaseMsMax, even if identity grants a longer lease", async () => {
    const cache = await createCacheWithLease({ leaseMs: 60_000 });
    cache.pass(keyLeaseMsMax - 1);
    expect(isCached(cache.resolve("a"))).toBe(true);
    cache.pass(1);
    expect(isCached(cache.resolve("a"))).toBe(false);
  });

  test("ApiKeyCache ends a lease when its key expires", async () => {
    const cache = await createCacheWithLease({}, { ...liveKey, expiresInMs: 100n });
    cache.pass(99);
    expect(isCached(cache.resolve("a"))).toBe(true);
    cache.pass(1);
    expect(isCached(cache.resolve("a"))).toBe(false);
  });

  test("ApiKeyCache does not cache a key with a lease of 0 ms", async () => {
    const cache = await createCacheWithLease({ leaseMs: 0 });
    expect(isCached(cache.resolve("a"))).toBe(false);
  });

  test.each(["UNKNOWN", "REVOKED", "EXPIRED", "BUSINESS_DISABLED", "BUSINESS_PENDING"] as const)(
    "ApiKeyCache does not cache a key in the state %s",
    async (state) => {
      const cache = await createCacheWithLease({}, { state: KeyState[state] });
      expect(isCached(cache.resolve("a"))).toBe(false);
    },
  );

  test("ApiKeyCache does not cache a live key without a role", async () => {
    const cache = await createCacheWithLease({}, { ...liveKey, role: KeyRole.UNSPECIFIED });
    expect(isCached(cache.resolve("a"))).toBe(false);
  });
});

describe("isFresh", () => {
  test.each([
    [500, {}, 500],
    [0, {}, 500],
    [500, { expiresInMs: 100n }, 100],
  ])(
    "`isFresh` of ApiKeyCache, for a lease of %i ms and a key with %o, returns true until %i ms after the look-up was sent",
    async (leaseMs, key, freshMs) => {
      const cache = createCache({ leaseMs });
      const pendingResults = cache.resolve("a");
      cache.send();
      await cache.lookUps[0]?.respond({ ...liveKey, ...key });
      const resolved = await pendingResults;
      cache.pass(freshMs - 1);
      expect(cache.isFresh(resolved)).toBe(true);
      cache.pass(1);
      expect(cache.isFresh(resolved)).toBe(false);
    },
  );
});

describe("a look-up", () => {
  test("ApiKeyCache sends all waiting keys in one look-up, each key once", async () => {
    const cache = createCache();
    const pendingResults = ["a", "b", "a", "c"].map((key) => cache.resolve(key));
    cache.send();
    expect(cache.lookUps.map(({ hashes }) => hashes)).toEqual([["a", "b", "c"]]);
    await cache.lookUps[0]?.respond();
    await expect(Promise.all(pendingResults)).resolves.toHaveLength(4);
  });

  test("ApiKeyCache sends a second look-up for a request that arrives while an earlier look-up of the same key is in flight", async () => {
    const cache = createCache();
    const first = cache.resolve("a");
    cache.send();
    const second = cache.resolve("a");
    cache.send();
    expect(cache.lookUps).toHaveLength(2);
    await cache.lookUps[1]?.respond({ state: KeyState.REVOKED });
    await cache.lookUps[0]?.respond();
    await expect(first).resolves.toMatchObject({ state: KeyState.LIVE });
    await expect(second).resolves.toMatchObject({ state: KeyState.REVOKED });
  });

  test("ApiKeyCache rejects the waiting requests when a look-up fails, and the next request starts a new look-up", async () => {
    const cache = createCache();
    const resolved = cache.resolve("a") as Promise<ResolvedKey>;
    const rejection = expect(resolved).rejects.toThrow("identity is unreachable");
    cache.send();
    await cache.lookUps[0]?.fail();
    await rejection;
    cache.resolve("a");
    cache.send();
    expect(cache.lookUps).toHaveLength(2);
  });
});

describe("a key in use", () => {
  test("ApiKeyCache renews a lease in the background while requests use its key, and does not delay these requests", async () => {
    const cache = await createCacheWithLease();
    for (let turn = 1; turn < 10; turn++) {
      cache.pass(300);
      expect(isCached(cache.resolve("a"))).toBe(true);
      expect(isCached(cache.resolve("a"))).toBe(true);
      cache.send();
      expect(cache.lookUps).toHaveLength(turn + 1);
      await cache.lookUps[turn]?.respond();
    }
  });

  test("ApiKeyCache removes a key when the renewal of its lease returns REVOKED", async () => {
    const cache = await createCacheWithLease();
    cache.pass(300);
    cache.resolve("a");
    cache.send();
    await cache.lookUps[1]?.respond({ state: KeyState.REVOKED });
    expect(isCached(cache.resolve("a"))).toBe(false);
  });

  test("`resolve` of ApiKeyCache still returns a key while identity is unreachable, until the key's lease ends", async () => {
    const cache = await createCacheWithLease();
    cache.pass(300);
    cache.resolve("a");
    cache.send();
    await cache.lookUps[1]?.fail();
    cache.pass(199);
    expect(isCached(cache.resolve("a"))).toBe(true);
    cache.send();
    await cache.lookUps[2]?.fail();
    cache.pass(1);
    const resolvedAfterLease = cache.resolve("a") as Promise<ResolvedKey>;
    const rejection = expect(resolvedAfterLease).rejects.toThrow();
    cache.send();
    await cache.lookUps[3]?.fail();
    await rejection;
  });
});

test("ApiKeyCache removes the oldest lease when it adds a lease and already holds leasesMax leases", async () => {
  const cache = createCache({ leasesMax: 2 });
  for (const key of ["a", "b", "c"]) {
    const resolved = cache.resolve(key);
    cache.send();
    await cache.lookUps.at(-1)?.respond();
    await resolved;
  }
  expect(["c", "b", "a"].map((key) => isCached(cache.resolve(key)))).toEqual([true, true, false]);
});
