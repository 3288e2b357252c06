import { ApiKeySchema } from "@amana/contracts/identity/v1/api_key_pb";
import { transaction } from "@amana/database";
import { type Call, DomainError } from "@amana/rpc";
import { createLogger, startHourlyJobs } from "@amana/runtime";
import { aBusinessCaller, createTestDatabase, type TestDatabase } from "@amana/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { aCall, database } from "../test/database.ts";
import { claimKey, cleanKeys, IdempotencyRecord, lockKey } from "./index.ts";

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase("idempotency", database);
});
afterAll(() => db[Symbol.asyncDispose]());
beforeEach(() => db.orm.em.fork().execute("truncate idempotency_key"));

/** Begins an execution of two transactions, as a call outside needs; answers the record's id. */
const begin = (call: Call) =>
  transaction(db.orm, async (em) => {
    const claim = await claimKey(em, call, ApiKeySchema);
    return "replayed" in claim ? claim : { id: claim.record?.id as string };
  });

const end = (id: string, finish: (record: IdempotencyRecord) => void) =>
  transaction(db.orm, async (em) => finish(await em.findOneOrFail(IdempotencyRecord, { id })));

async function beginAndEnd(call: Call, finish: (record: IdempotencyRecord) => void) {
  const begun = await begin(call);
  if ("id" in begun) await end(begun.id, finish);
}

const age = (interval: string) =>
  db.orm.em.fork().execute(`update idempotency_key set created_at = now() - interval '${interval}'`);
const later = (interval: string) =>
  db.orm.em.fork().execute(`update idempotency_key set created_at = created_at - interval '${interval}'`);
const keys = async () => {
  const rows = await db.orm.em.fork().execute<{ key: string }[]>("select key from idempotency_key order by key");
  return rows.map(({ key }) => key);
};
const reused = { kind: "invalid", code: "idempotency_key_reused" };
const inProgress = { kind: "conflict", code: "idempotency_in_progress" };
const answer = (record: IdempotencyRecord) => record.storeAnswer(ApiKeySchema, { id: "1", name: "n" });

test("between the beginning and the end the key is in progress; afterwards it gives the answer", async () => {
  const caller = aBusinessCaller();
  const begun = (await begin(aCall({ caller }))) as { id: string };
  await expect(begin(aCall({ caller }))).rejects.toMatchObject(inProgress);
  await expect(begin(aCall({ caller, fingerprint: "f2" }))).rejects.toMatchObject({
    ...reused,
  });
  await end(begun.id, answer);
  const call = aCall({ caller });
  expect(await begin(call)).toMatchObject({ replayed: { id: "1", name: "n" } });
  expect(call.replays).toBe(1);
});

test("a stored refusal is thrown again as it was, marked as stored", async () => {
  const caller = aBusinessCaller();
  const refused = new DomainError("refused_upstream", "refund_refused", "The bank said no. Ask it why.", {
    pointer: "/amount",
    members: { processor_error_code: "7" },
  });
  await beginAndEnd(aCall({ caller }), (record) => record.storeRefusal(refused));
  for (let again = 0; again < 2; again++) {
    const call = aCall({ caller });
    const error = await begin(call).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DomainError);
    expect({ ...(error as DomainError), message: (error as DomainError).message }).toEqual({
      ...refused,
      message: refused.message,
    });
    expect(call.replays).toBe(1);
  }
});

test("an answer without any content is an answer", async () => {
  const caller = aBusinessCaller();
  await beginAndEnd(aCall({ caller }), (record) => record.storeAnswer(ApiKeySchema, {}));
  expect(await begin(aCall({ caller }))).toMatchObject({ replayed: { id: "", name: "" } });
});

describe("the retention of a key", () => {
  const refused = new DomainError("refused_upstream", "refund_refused", "No.");

  test.each([
    ["answer", answer, (result: Promise<unknown>) => expect(result).resolves.toMatchObject({ replayed: { id: "1" } })],
    [
      "refusal",
      (record: IdempotencyRecord) => record.storeRefusal(refused),
      (result: Promise<unknown>) => expect(result).rejects.toMatchObject({ code: "refund_refused" }),
    ],
  ])(
    "a key whose execution takes 30 days is in progress until then, and replays its %s for the next 24 hours only",
    async (_what, finish, replays) => {
      const caller = aBusinessCaller();
      const begun = (await begin(aCall({ caller }))) as { id: string };
      await age("30 days");
      expect(await cleanKeys(db)).toBe(0);
      await expect(begin(aCall({ caller }))).rejects.toMatchObject(inProgress);
      await end(begun.id, finish);
      await later("23 hours 59 minutes");
      expect(await cleanKeys(db)).toBe(0);
      await replays(begin(aCall({ caller })));
      await later("2 minutes");
      expect(await begin(aCall({ caller }))).toMatchObject({ id: expect.not.stringContaining(begun.id) });
    },
  );

  test("a key whose execution an older version of the service ends replays its answer for 24 hours", async () => {
    const caller = aBusinessCaller();
    const begun = (await begin(aCall({ caller }))) as { id: string };
    await age("30 days");
    await db.orm.em.fork().execute("update idempotency_key set answer = '' where id = ?", [begun.id]);
    await later("23 hours 59 minutes");
    expect(await cleanKeys(db)).toBe(0);
    expect(await begin(aCall({ caller }))).toMatchObject({ replayed: { id: "" } });
  });
});

describe("a key that is held for a time", () => {
  const hold = (call: Call, heldMs: number) =>
    transaction(db.orm, async (em) => {
      const claim = await claimKey(em, call, ApiKeySchema, { heldMs });
      return "replayed" in claim ? claim : { id: claim.record?.id ?? "", isRepeated: claim.isRepeated };
    });
  const held = async (call: Call, heldMs: number) => {
    const claim = await hold(call, heldMs);
    return "id" in claim ? claim : { id: "", isRepeated: false };
  };

  test("is in progress meanwhile; afterwards the same request goes on under the same record, and no other does", async () => {
    const caller = aBusinessCaller();
    const first = await held(aCall({ caller }), 60_000);
    expect(first.isRepeated).toBe(false);
    await expect(hold(aCall({ caller }), 60_000)).rejects.toMatchObject(inProgress);
    await db.orm.em.fork().execute("update idempotency_key set held_until = now()");
    await expect(hold(aCall({ caller, fingerprint: "f2" }), 60_000)).rejects.toMatchObject(reused);
    expect(await held(aCall({ caller }), 60_000)).toEqual({ id: first.id, isRepeated: true });
    await expect(hold(aCall({ caller }), 60_000)).rejects.toMatchObject(inProgress);
    await end(first.id, answer);
    expect(await hold(aCall({ caller }), 60_000)).toMatchObject({ replayed: { id: "1" } });
  });

  test("that was released is free for the same request at once", async () => {
    const caller = aBusinessCaller();
    const { id } = await held(aCall({ caller }), 60_000);
    await end(id, (record) => record.release());
    expect(await held(aCall({ caller }), 0)).toEqual({ id, isRepeated: true });
    expect(await held(aCall({ caller }), 0)).toEqual({ id, isRepeated: true });
  });

  test("and is refused in its beginning stays as it was", async () => {
    const caller = aBusinessCaller();
    const { id } = await held(aCall({ caller }), 0);
    const refused = transaction(db.orm, async (em) => {
      await claimKey(em, aCall({ caller }), ApiKeySchema, { heldMs: 60_000 });
      throw new Error("by a rule");
    });
    await expect(refused).rejects.toThrow("by a rule");
    expect(await held(aCall({ caller }), 0)).toEqual({ id, isRepeated: true });
  });

  test("and ends at this moment keeps nobody waiting, and is not executed again", async () => {
    const caller = aBusinessCaller();
    const { id } = await held(aCall({ caller }), 0);
    await transaction(db.orm, async (em) => {
      (await lockKey(em, id))?.storeAnswer(ApiKeySchema, { id: "1", name: "n" });
      await em.flush();
      await expect(hold(aCall({ caller }), 0)).rejects.toMatchObject(inProgress);
    });
    expect(await hold(aCall({ caller }), 0)).toMatchObject({ replayed: { id: "1" } });
  });

  test("of ten who ask at once is one's", async () => {
    const caller = aBusinessCaller();
    await held(aCall({ caller }), 0);
    const claims = await Promise.allSettled(Array.from({ length: 10 }, () => hold(aCall({ caller }), 60_000)));
    expect(claims.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("a key that is no longer held becomes free 24 hours after its last claim", async () => {
    const caller = aBusinessCaller();
    const [left, kept] = [await held(aCall({ caller, key: "left" }), 0), await held(aCall({ caller, key: "kept" }), 60_000)];
    await age("24 hours 1 minute");
    expect((await held(aCall({ caller, key: "left", fingerprint: "f2" }), 0)).id).not.toBe(left.id);
    await expect(hold(aCall({ caller, key: "kept" }), 0)).rejects.toMatchObject(inProgress);
    await age("24 hours 1 minute");
    expect(await cleanKeys(db)).toBe(1);
    expect(await keys()).toEqual(["kept"]);
    expect(kept.id).not.toBe("");
  });

  test("a held key replays a late answer for 24 hours after that answer", async () => {
    const caller = aBusinessCaller();
    const { id } = await held(aCall({ caller }), 0);
    await age("23 hours 59 minutes");
    expect(await held(aCall({ caller }), 0)).toEqual({ id, isRepeated: true });
    await end(id, answer);
    await later("23 hours");
    expect(await hold(aCall({ caller }), 0)).toMatchObject({ replayed: { id: "1" } });
  });

  test("is judged by the database's clock", async () => {
    const caller = aBusinessCaller();
    await held(aCall({ caller }), 60_000);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 48 * 3_600_000 });
    await expect(hold(aCall({ caller }), 60_000))
      .rejects.toMatchObject(inProgress)
      .finally(() => vi.useRealTimers());
  });
});

test("cleanKeys deletes keys whose execution ended more than 24 hours ago, and keeps all other keys", async () => {
  const caller = aBusinessCaller();
  const refused = new DomainError("refused_upstream", "refund_refused", "No.");
  await beginAndEnd(aCall({ caller, key: "old answer" }), answer);
  await beginAndEnd(aCall({ caller, key: "old refusal" }), (record) => record.storeRefusal(refused));
  await begin(aCall({ caller, key: "old and unfinished" }));
  await age("24 hours 1 minute");
  await beginAndEnd(aCall({ caller, key: "new answer" }), answer);
  await begin(aCall({ caller, key: "new and unfinished" }));
  expect(await cleanKeys(db, 1)).toBe(1);
  expect(await cleanKeys(db)).toBe(1);
  expect(await cleanKeys(db)).toBe(0);
  expect(await keys()).toEqual(["new and unfinished", "new answer", "old and unfinished"]);
});

test("cleaning runs by itself, from the start on, until nothing old is left", async () => {
  await beginAndEnd(aCall({ key: "old" }), answer);
  await age("25 hours");
  await using stack = new AsyncDisposableStack();
  for (const job of startHourlyJobs({ ...db, logger: createLogger("test", "silent") }, { cleanKeys })) stack.use(job);
  await vi.waitFor(async () => expect(await keys()).toEqual([]), 90_000);
});
