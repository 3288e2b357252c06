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

type Answer = MessageInitShape<typeof ApiKeySchema>;
const withoutSecret = ({ apiKey: _, ...rest }: Answer): Answer => rest;

/** Issues a key: one row, and an answer that is different each time. */
async function issue(call: Call, before: () => Promise<void> = async () => {}): Promise<Answer> {
  return await once(
    db.orm,
    call,
    ApiKeySchema,
    async (em) => {
      const [row] = await em.execute<{ number: string }[]>(
        "insert into effect values ('issued') returning gen_random_uuid() as number",
      );
      await before();
      return { id: row?.number ?? "", createdAtMs: 12_345_678_901n, name: "é 😀", apiKey: "a-secret-key" };
    },
    withoutSecret,
  );
}

const count = async (table: "effect" | "idempotency_key") => {
  const [row] = await db.orm.em.fork().execute<{ count: number }[]>(`select count(*)::int from ${table}`);
  return row?.count;
};
const age = (interval: string) =>
  db.orm.em.fork().execute(`update idempotency_key set created_at = now() - interval '${interval}'`);
const refusal = (code: string) => expect.objectContaining({ name: "DomainError", code });

test("a call sent again gets the identical answer, marked as stored, and has no second effect", async () => {
  const caller = aBusinessCaller();
  const first = aCall({ caller });
  const answer = await issue(first);
  expect(first.replays).toBe(0);
  for (let again = 0; again < 3; again++) {
    const call = aCall({ caller });
    const stored = (await issue(call)) as ApiKey;
    expect(equals(ApiKeySchema, stored, create(ApiKeySchema, withoutSecret(answer)))).toBe(true);
    expect(call.replays).toBe(1);
  }
  expect(await count("effect")).toBe(1);
});

test("a secret is answered once and stored nowhere", async () => {
  const caller = aBusinessCaller();
  expect((await issue(aCall({ caller }))).apiKey).toBe("a-secret-key");
  expect((await issue(aCall({ caller }))).apiKey).toBeUndefined();
  const rows = await db.orm.em
    .fork()
    .execute<{ row: string }[]>("select concat(idempotency_key.*, encode(answer, 'escape')) as row from idempotency_key");
  expect(rows).toHaveLength(1);
  for (const { row } of rows) expect(row).not.toContain("a-secret-key");
});

test("without a key every call has its effect, and nothing is stored", async () => {
  const caller = aBusinessCaller();
  for (let call = 0; call < 2; call++) await issue(aCall({ caller, key: null }));
  expect([await count("effect"), await count("idempotency_key")]).toEqual([2, 0]);
});

test("a key used for another request is refused", async () => {
  const caller = aBusinessCaller();
  await issue(aCall({ caller }));
  await expect(issue(aCall({ caller, fingerprint: "f2" }))).rejects.toEqual(refusal("idempotency_key_reused"));
  expect(await count("effect")).toBe(1);
});

test("of calls with one key at the same instant exactly one executes, and the others are told so at once", async () => {
  const caller = aBusinessCaller();
  const inside = Promise.withResolvers<void>();
  const others = Promise.withResolvers<void>();
  const executing = issue(aCall({ caller }), async () => {
    inside.resolve();
    await others.promise;
  });
  await inside.promise;
  // They are answered while the first one still holds its transaction open: nobody waits for it.
  const refused = await Promise.allSettled([1, 2, 3].map(() => issue(aCall({ caller }))));
  for (const result of refused) expect(result).toMatchObject({ status: "rejected", reason: { code: "idempotency_in_progress" } });
  others.resolve();
  await executing;
  expect(await count("effect")).toBe(1);
});

test("however many calls with one key race, one executes, and all end with its answer or in progress", async () => {
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

test("a finished key answers any number of calls at the same instant", async () => {
  const caller = aBusinessCaller();
  const { id } = await issue(aCall({ caller }));
  const answers = await Promise.all(Array.from({ length: 10 }, () => issue(aCall({ caller }))));
  expect(answers.map((answer) => answer.id)).toEqual(Array(10).fill(id));
});

test("an execution that fails leaves no trace, and the key can be used again", async () => {
  const caller = aBusinessCaller();
  const failing = issue(aCall({ caller }), () => Promise.reject(new Error("refused by a rule")));
  await expect(failing).rejects.toThrow("refused by a rule");
  expect([await count("effect"), await count("idempotency_key")]).toEqual([0, 0]);
  const call = aCall({ caller, fingerprint: "f2" });
  await issue(call);
  expect(call.replays).toBe(0);
});

test("one key is independent for each business, operator and route", async () => {
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
  // Another key of the same business is the same caller.
  expect((await issue(aCall({ caller: aBusinessCaller(caller.businessId) }))).id).toBe(ids[0]);
});

test("a key becomes free 24 hours after its execution, and not before", async () => {
  const caller = aBusinessCaller();
  const { id } = await issue(aCall({ caller }));
  await age("23 hours 59 minutes");
  expect((await issue(aCall({ caller }))).id).toBe(id);
  await age("24 hours 1 minute");
  const call = aCall({ caller, fingerprint: "f2" });
  const fresh = await issue(call);
  expect([fresh.id === id, call.replays]).toEqual([false, 0]);
  expect((await issue(aCall({ caller, fingerprint: "f2" }))).id).toBe(fresh.id);
  expect([await count("effect"), await count("idempotency_key")]).toEqual([2, 1]);
});

test("while the gateway's key for fingerprints is replaced, a request is the same under either", async () => {
  const caller = aBusinessCaller();
  const { id } = await issue(aCall({ caller, fingerprint: "old" }));
  const both = aCall({ caller, fingerprint: "old", otherFingerprint: "new" });
  expect((await issue(both)).id).toBe(id);
  const turned = aCall({ caller, fingerprint: "new", otherFingerprint: "old" });
  expect((await issue(turned)).id).toBe(id);
  const another = aCall({ caller, fingerprint: "new of another", otherFingerprint: "old of another" });
  await expect(issue(another)).rejects.toEqual(refusal("idempotency_key_reused"));
  expect(await count("effect")).toBe(1);
});
