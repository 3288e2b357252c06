import { keyLeaseMsMax } from "@amana/api-keys";
import {
  type KeyResolutionSchema,
  KeyRole,
  KeyState,
  ResolveKeysResponseSchema,
} from "@amana/contracts/identity/v1/key_lease_service_pb";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { ApiKeyCache, type KeyAnswer } from "./api-key-cache.ts";

const live = { state: KeyState.LIVE, role: KeyRole.BUSINESS, keyId: "k1", keyPrefix: "sk_test_00000000", businessId: "b1" };
type Resolution = MessageInitShape<typeof KeyResolutionSchema>;

/** A cache whose clock, event loop and identity are in the test's hands. */
function aCache(options: { leaseMs?: number; leasesMax?: number } = {}) {
  let nowMs = 1_000;
  const planned: (() => void)[] = [];
  const lookUps: { hashes: string[]; answer: (resolution?: Resolution) => Promise<void>; fail: () => Promise<void> }[] = [];
  const cache = new ApiKeyCache({
    nowMs: () => nowMs,
    schedule: (send) => planned.push(send),
    ...(options.leasesMax === undefined ? {} : { leasesMax: options.leasesMax }),
    lookUp: (hashes) => {
      const { promise, resolve, reject } = Promise.withResolvers<ReturnType<typeof response>>();
      const response = (resolution: Resolution) =>
        create(ResolveKeysResponseSchema, { resolutions: hashes.map(() => resolution), leaseMs: options.leaseMs ?? 500 });
      // One turn of the event loop lets everyone who waits take note.
      const settled = () => new Promise<void>((done) => setImmediate(done));
      lookUps.push({
        hashes: hashes.map((hash) => Buffer.from(hash).toString()),
        answer: (resolution = live) => {
          resolve(response(resolution));
          return settled();
        },
        fail: () => {
          reject(new Error("identity is down"));
          return settled();
        },
      });
      return promise;
    },
  });
  return {
    lookUps,
    isGood: (answer: KeyAnswer) => cache.isGood(answer),
    ask: (key: string) => cache.resolve(Buffer.from(key).toString("base64")),
    send: () => {
      for (const send of planned.splice(0)) send();
    },
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

/** The cache with a lease for "a" that was asked for just now. */
async function aLeasedKey(options: { leaseMs?: number; leasesMax?: number } = {}, resolution: Resolution = live) {
  const cache = aCache(options);
  const answer = cache.ask("a");
  cache.send();
  await cache.lookUps[0]?.answer(resolution);
  await answer;
  return cache;
}

const isAtOnce = (answer: KeyAnswer | Promise<KeyAnswer>) => !(answer instanceof Promise);

describe("a lease", () => {
  test("answers without asking while it lasts, and not a moment longer", async () => {
    const cache = await aLeasedKey();
    cache.pass(499);
    expect(cache.ask("a")).toMatchObject({ state: KeyState.LIVE, caller: { businessId: "b1", keyId: "k1" } });
    cache.pass(1);
    expect(isAtOnce(cache.ask("a"))).toBe(false);
  });

  test("is counted from the moment the question was sent, not from its answer", async () => {
    const cache = aCache();
    const answer = cache.ask("a");
    cache.pass(50);
    cache.send();
    cache.pass(400);
    await cache.lookUps[0]?.answer();
    await answer;
    cache.pass(99);
    expect(isAtOnce(cache.ask("a"))).toBe(true);
    cache.pass(1);
    expect(isAtOnce(cache.ask("a"))).toBe(false);
  });

  test("that ended before its answer came still serves those who waited for it, and nobody else", async () => {
    const cache = aCache();
    const answer = cache.ask("a");
    cache.send();
    cache.pass(500);
    await cache.lookUps[0]?.answer();
    await expect(answer).resolves.toMatchObject({ state: KeyState.LIVE });
    expect(isAtOnce(cache.ask("a"))).toBe(false);
  });

  test("is never longer than the protocol's longest, whatever identity says", async () => {
    const cache = await aLeasedKey({ leaseMs: 60_000 });
    cache.pass(keyLeaseMsMax - 1);
    expect(isAtOnce(cache.ask("a"))).toBe(true);
    cache.pass(1);
    expect(isAtOnce(cache.ask("a"))).toBe(false);
  });

  test("ends when the key expires", async () => {
    const cache = await aLeasedKey({}, { ...live, expiresInMs: 100n });
    cache.pass(99);
    expect(isAtOnce(cache.ask("a"))).toBe(true);
    cache.pass(1);
    expect(isAtOnce(cache.ask("a"))).toBe(false);
  });

  test("of length 0 serves one request only", async () => {
    const cache = await aLeasedKey({ leaseMs: 0 });
    expect(isAtOnce(cache.ask("a"))).toBe(false);
  });

  test.each([KeyState.UNKNOWN, KeyState.REVOKED, KeyState.EXPIRED, KeyState.BUSINESS_DISABLED, KeyState.BUSINESS_PENDING])(
    "is never given for a key in state %i",
    async (state) => {
      const cache = await aLeasedKey({}, { state });
      expect(isAtOnce(cache.ask("a"))).toBe(false);
    },
  );

  test("is never given for a live key of no role", async () => {
    const cache = await aLeasedKey({}, { ...live, role: KeyRole.UNSPECIFIED });
    expect(isAtOnce(cache.ask("a"))).toBe(false);
  });
});

describe("an answer", () => {
  test.each([
    [500, {}, 500],
    [0, {}, 500],
    [500, { expiresInMs: 100n }, 100],
  ])("that was granted for %i ms (key: %o) may be acted upon for %i ms after the question", async (leaseMs, key, goodMs) => {
    const cache = aCache({ leaseMs });
    const asked = cache.ask("a");
    cache.send();
    await cache.lookUps[0]?.answer({ ...live, ...key });
    const answer = await asked;
    cache.pass(goodMs - 1);
    expect(cache.isGood(answer)).toBe(true);
    cache.pass(1);
    expect(cache.isGood(answer)).toBe(false);
  });
});

describe("a look-up", () => {
  test("asks for all keys that wait in one call, and for each once", async () => {
    const cache = aCache();
    const answers = ["a", "b", "a", "c"].map((key) => cache.ask(key));
    cache.send();
    expect(cache.lookUps.map(({ hashes }) => hashes)).toEqual([["a", "b", "c"]]);
    await cache.lookUps[0]?.answer();
    await expect(Promise.all(answers)).resolves.toHaveLength(4);
  });

  test("is not joined by a request that came after it was sent", async () => {
    const cache = aCache();
    const first = cache.ask("a");
    cache.send();
    const second = cache.ask("a");
    cache.send();
    expect(cache.lookUps).toHaveLength(2);
    await cache.lookUps[1]?.answer({ state: KeyState.REVOKED });
    await cache.lookUps[0]?.answer();
    await expect(first).resolves.toMatchObject({ state: KeyState.LIVE });
    await expect(second).resolves.toMatchObject({ state: KeyState.REVOKED });
  });

  test("that fails refuses those who waited, and the next one is asked anew", async () => {
    const cache = aCache();
    const answer = cache.ask("a") as Promise<KeyAnswer>;
    const refused = expect(answer).rejects.toThrow("identity is down");
    cache.send();
    await cache.lookUps[0]?.fail();
    await refused;
    cache.ask("a");
    cache.send();
    expect(cache.lookUps).toHaveLength(2);
  });
});

describe("a key in use", () => {
  test("is renewed in the background, so that its requests never wait", async () => {
    const cache = await aLeasedKey();
    for (let turn = 1; turn < 10; turn++) {
      cache.pass(300);
      expect(isAtOnce(cache.ask("a"))).toBe(true);
      expect(isAtOnce(cache.ask("a"))).toBe(true);
      cache.send();
      expect(cache.lookUps).toHaveLength(turn + 1);
      await cache.lookUps[turn]?.answer();
    }
  });

  test("is refused at once when its renewal says it was revoked", async () => {
    const cache = await aLeasedKey();
    cache.pass(300);
    cache.ask("a");
    cache.send();
    await cache.lookUps[1]?.answer({ state: KeyState.REVOKED });
    expect(isAtOnce(cache.ask("a"))).toBe(false);
  });

  test("works to the end of its lease while identity is down, and is refused then", async () => {
    const cache = await aLeasedKey();
    cache.pass(300);
    cache.ask("a");
    cache.send();
    await cache.lookUps[1]?.fail();
    cache.pass(199);
    expect(isAtOnce(cache.ask("a"))).toBe(true);
    cache.send();
    await cache.lookUps[2]?.fail();
    cache.pass(1);
    const late = cache.ask("a") as Promise<KeyAnswer>;
    const refused = expect(late).rejects.toThrow();
    cache.send();
    await cache.lookUps[3]?.fail();
    await refused;
  });
});

test("the number of leases is bounded, and the oldest goes first", async () => {
  const cache = aCache({ leasesMax: 2 });
  for (const key of ["a", "b", "c"]) {
    const answer = cache.ask(key);
    cache.send();
    await cache.lookUps.at(-1)?.answer();
    await answer;
  }
  expect(["c", "b", "a"].map((key) => isAtOnce(cache.ask(key)))).toEqual([true, true, false]);
});
