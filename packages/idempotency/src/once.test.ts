import { type ApiKey, ApiKeySchema } from "@amana/contracts/identity/v1/api_key_pb";
import type { Call, Caller } from "@amana/rpc";
import { aBusinessCaller, createTestDatabase, type TestDatabase } from "@amana/testing";
import { create, equals, type MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { aCall, database } from "../test/database.ts";
import { once } from "./index.ts";

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase("idempotency", database);
});
afterAll(() => db[Symbol.asyncDispose]());
beforeEach(() => db.orm.em.fork().execute("truncate idempotency_key, effect"));

type Response = MessageInitShape<typeof ApiKeySchema>;
const withoutSecret = ({ apiKey: _, ...rest }: Response): Response => rest;

/**
 * Simulates the issue of an API key: inserts one row and returns a different response each time.
 */
async function issue(call: Call, beforeReturn: () => Promise<void> = async () => {}): Promise<Response> {
  return await once(
    db.orm,
    call,
    ApiKeySchema,
    async (em) => {
      const [row] = await em.execute<{ number: string }[]>(
        "insert into effect values ('issued') returning gen_random_uuid() as number",
      );
      await beforeReturn();
      return { id: row?.number ?? "", createdAtMs: 12_345_678_901n, name: "é 😀", apiKey: "a-secret-key" };
    },
    withoutSecret,
  );
}

const count = async (table: "effect" | "idempotency_key") => {
  const [row] = await db.orm.em.fork().execute<{ count: number }[]>(`select count(*)::int from ${table}`);
  return row?.count;
};
const setAge = (interval: string) =>
  db.orm.em.fork().execute(`update idempotency_key set created_at = now() - interval '${interval}'`);
const refusal = (code: string) => expect.objectContaining({ name: "DomainError", code });

test("`once` executes a repeated call only once, and returns the identical response, marked as replayed", async () => {
  const caller = aBusinessCaller();
  const firstCall = aCall({ caller });
  const response = await issue(firstCall);
  expect(firstCall.replays).toBe(0);
  for (let repetition = 0; repetition < 3; repetition++) {
    const call = aCall({ caller });
    const storedResponse = (await issue(call)) as ApiKey;
    expect(equals(ApiKeySchema, storedResponse, create(ApiKeySchema, withoutSecret(response)))).toBe(true);
    expect(call.replays).toBe(1);
  }
  expect(await count("effect")).toBe(1);
});

test("`once` returns a secret only in the first response, and does not store the secret", async () => {
  const caller = aBusinessCaller();
  expect((await issue(aCall({ caller }))).apiKey).toBe("a-secret-key");
  expect((await issue(aCall({ caller }))).apiKey).toBeUndefined();
  const rows = await db.orm.em
    .fork()
    .execute<{ row: string }[]>("select concat(idempotency_key.*, encode(answer, 'escape')) as row from idempotency_key");
  expect(rows).toHaveLength(1);
  for (const { row } of rows) expect(row).not.toContain("a-secret-key");
});

test("`once` executes every call that has no Idempotency-Key, and stores no record of these calls", async () => {
  const caller = aBusinessCaller();
  for (let call = 0; call < 2; call++) await issue(aCall({ caller, key: null }));
  expect([await count("effect"), await count("idempotency_key")]).toEqual([2, 0]);
});

test("`once` rejects an Idempotency-Key that was used for another request", async () => {
  const caller = aBusinessCaller();
  await issue(aCall({ caller }));
  await expect(issue(aCall({ caller, fingerprint: "f2" }))).rejects.toEqual(refusal("idempotency_key_reused"));
  expect(await count("effect")).toBe(1);
});

test("`once` executes one of several concurrent calls with the same key, and rejects the other calls while that call runs", async () => {
  const caller = aBusinessCaller();
  const started = Promise.withResolvers<void>();
  const othersRejected = Promise.withResolvers<void>();
  const executing = issue(aCall({ caller }), async () => {
    started.resolve();
    await othersRejected.promise;
  });
  await started.promise;
  // The transaction of the first call is still open. If these calls waited for it, the test would
  // time out.
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => issue(aCall({ caller }))));
  for (const result of outcomes)
    expect(result).toMatchObject({ status: "rejected", reason: { code: "idempotency_in_progress" } });
  othersRejected.resolve();
  await executing;
  expect(await count("effect")).toBe(1);
});

test("`once` executes one of many concurrent calls with the same key, and the other calls get the same response or idempotency_in_progress", async () => {
  for (let round = 0; round < 10; round++) {
    const caller = aBusinessCaller();
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => issue(aCall({ caller }))));
    const ids = new Set(results.flatMap((result) => (result.status === "fulfilled" ? [result.value.id] : [])));
    expect(ids.size).toBe(1);
    for (const result of results) {
      if (result.status === "rejected") expect(result.reason).toEqual(refusal("idempotency_in_progress"));
    }
  }
  expect(await count("effect")).toBe(10);
});

test("`once` returns the stored response to each of many concurrent repetitions of a finished call", async () => {
  const caller = aBusinessCaller();
  const { id } = await issue(aCall({ caller }));
  const responses = await Promise.all(Array.from({ length: 10 }, () => issue(aCall({ caller }))));
  expect(responses.map((response) => response.id)).toEqual(Array(10).fill(id));
});

test("`once` stores no record when the work fails, so that the key can be used again", async () => {
  const caller = aBusinessCaller();
  const failing = issue(aCall({ caller }), () => Promise.reject(new Error("refused by a rule")));
  await expect(failing).rejects.toThrow("refused by a rule");
  expect([await count("effect"), await count("idempotency_key")]).toEqual([0, 0]);
  const call = aCall({ caller, fingerprint: "f2" });
  await issue(call);
  expect(call.replays).toBe(0);
});

test("`once` executes a call again if another business, operator or route uses the same key", async () => {
  const caller = aBusinessCaller();
  const anOperator = (keyId: string): Caller => ({ role: "admin", keyId, keyPrefix: "ak_test" });
  const calls = () => [
    aCall({ caller }),
    aCall({ caller: aBusinessCaller() }),
    aCall({ caller: anOperator(caller.keyId) }),
    aCall({ caller, route: "POST /api/v1/others" }),
    aCall({ caller, key: "another" }),
    aCall({ caller: anOperator("018f0000-0000-7000-8000-000000000002") }),
  ];
  const ids = await Promise.all(calls().map((call) => issue(call).then(({ id }) => id)));
  expect(new Set(ids).size).toBe(6);
  // All API keys of a business share the same scope.
  expect((await issue(aCall({ caller: aBusinessCaller(caller.businessId) }))).id).toBe(ids[0]);
});

test("`once` accepts another request with the same key only 24 hours after the execution", async () => {
  const caller = aBusinessCaller();
  const { id } = await issue(aCall({ caller }));
  await setAge("23 hours 59 minutes");
  expect((await issue(aCall({ caller }))).id).toBe(id);
  await setAge("24 hours 1 minute");
  const call = aCall({ caller, fingerprint: "f2" });
  const reissued = await issue(call);
  expect([reissued.id === id, call.replays]).toEqual([false, 0]);
  expect((await issue(aCall({ caller, fingerprint: "f2" }))).id).toBe(reissued.id);
  expect([await count("effect"), await count("idempotency_key")]).toEqual([2, 1]);
});

test("`once` accepts request fingerprints computed with the gateway's old or new fingerprint key during a key rotation", async () => {
  const caller = aBusinessCaller();
  const { id } = await issue(aCall({ caller, fingerprint: "old" }));
  const currentFirst = aCall({ caller, fingerprint: "old", otherFingerprint: "new" });
  expect((await issue(currentFirst)).id).toBe(id);
  const otherFirst = aCall({ caller, fingerprint: "new", otherFingerprint: "old" });
  expect((await issue(otherFirst)).id).toBe(id);
  const otherRequest = aCall({ caller, fingerprint: "new, other request", otherFingerprint: "old, other request" });
  await expect(issue(otherRequest)).rejects.toEqual(refusal("idempotency_key_reused"));
  expect(await count("effect")).toBe(1);
});
