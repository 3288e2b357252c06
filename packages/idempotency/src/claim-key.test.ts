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

/**
 * Begins an execution of two transactions, as a call of an external system needs. Returns the id
 * of the record.
 */
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

const setAge = (interval: string) =>
  db.orm.em.fork().execute(`update idempotency_key set created_at = now() - interval '${interval}'`);
const advance = (interval: string) =>
  db.orm.em.fork().execute(`update idempotency_key set created_at = created_at - interval '${interval}'`);
const keys = async () => {
  const rows = await db.orm.em.fork().execute<{ key: string }[]>("select key from idempotency_key order by key");
  return rows.map(({ key }) => key);
};
const reused = { kind: "invalid", code: "idempotency_key_reused" };
const inProgress = { kind: "conflict", code: "idempotency_in_progress" };
const storeResponse = (record: IdempotencyRecord) => record.storeResponse(ApiKeySchema, { id: "1", name: "n" });

test("claimKey rejects a claimed key as in progress, and replays the response after the end", async () => {
  const caller = aBusinessCaller();
  const begun = (await begin(aCall({ caller }))) as { id: string };
  await expect(begin(aCall({ caller }))).rejects.toMatchObject(inProgress);
  await expect(begin(aCall({ caller, fingerprint: "f2" }))).rejects.toMatchObject({
    ...reused,
  });
  await end(begun.id, storeResponse);
  const call = aCall({ caller });
  expect(await begin(call)).toMatchObject({ replayed: { id: "1", name: "n" } });
  expect(call.replays).toBe(1);
});

test("claimKey throws the identical stored refusal and marks it as replayed", async () => {
  const caller = aBusinessCaller();
  const refused = new DomainError("refused_upstream", "refund_refused", "The bank refused the refund.", {
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

test("claimKey replays a response without content", async () => {
  const caller = aBusinessCaller();
  await beginAndEnd(aCall({ caller }), (record) => record.storeResponse(ApiKeySchema, {}));
  expect(await begin(aCall({ caller }))).toMatchObject({ replayed: { id: "", name: "" } });
});

describe("retention of a key", () => {
  const refused = new DomainError("refused_upstream", "refund_refused", "No.");

  test.each([
    ["response", storeResponse, (result: Promise<unknown>) => expect(result).resolves.toMatchObject({ replayed: { id: "1" } })],
    [
      "refusal",
      (record: IdempotencyRecord) => record.storeRefusal(refused),
      (result: Promise<unknown>) => expect(result).rejects.toMatchObject({ code: "refund_refused" }),
    ],
  ])(
    "a key stays in progress during an execution of 30 days, and replays its %s for the next 24 hours only",
    async (_kind, finish, expectReplay) => {
      const caller = aBusinessCaller();
      const begun = (await begin(aCall({ caller }))) as { id: string };
      await setAge("30 days");
      expect(await cleanKeys(db)).toBe(0);
      await expect(begin(aCall({ caller }))).rejects.toMatchObject(inProgress);
      await end(begun.id, finish);
      await advance("23 hours 59 minutes");
      expect(await cleanKeys(db)).toBe(0);
      await expectReplay(begin(aCall({ caller })));
      await advance("2 minutes");
      expect(await begin(aCall({ caller }))).toMatchObject({ id: expect.not.stringContaining(begun.id) });
    },
  );

  test("a key replays its response for 24 hours after an older version of the service ended its execution", async () => {
    const caller = aBusinessCaller();
    const begun = (await begin(aCall({ caller }))) as { id: string };
    await setAge("30 days");
    await db.orm.em.fork().execute("update idempotency_key set answer = '' where id = ?", [begun.id]);
    await advance("23 hours 59 minutes");
    expect(await cleanKeys(db)).toBe(0);
    expect(await begin(aCall({ caller }))).toMatchObject({ replayed: { id: "" } });
  });
});

describe("a held key", () => {
  const hold = (call: Call, heldMs: number) =>
    transaction(db.orm, async (em) => {
      const claim = await claimKey(em, call, ApiKeySchema, { heldMs });
      return "replayed" in claim ? claim : { id: claim.record?.id ?? "", isRepeated: claim.isRepeated };
    });
  const held = async (call: Call, heldMs: number) => {
    const claim = await hold(call, heldMs);
    return "id" in claim ? claim : { id: "", isRepeated: false };
  };

  test("is in progress during the hold, and afterwards only the same request claims its record again", async () => {
    const caller = aBusinessCaller();
    const first = await held(aCall({ caller }), 60_000);
    expect(first.isRepeated).toBe(false);
    await expect(hold(aCall({ caller }), 60_000)).rejects.toMatchObject(inProgress);
    await db.orm.em.fork().execute("update idempotency_key set held_until = now()");
    await expect(hold(aCall({ caller, fingerprint: "f2" }), 60_000)).rejects.toMatchObject(reused);
    expect(await held(aCall({ caller }), 60_000)).toEqual({ id: first.id, isRepeated: true });
    await expect(hold(aCall({ caller }), 60_000)).rejects.toMatchObject(inProgress);
    await end(first.id, storeResponse);
    expect(await hold(aCall({ caller }), 60_000)).toMatchObject({ replayed: { id: "1" } });
  });

  test("can be claimed by the same request at once after a release", async () => {
    const caller = aBusinessCaller();
    const { id } = await held(aCall({ caller }), 60_000);
    await end(id, (record) => record.release());
    expect(await held(aCall({ caller }), 0)).toEqual({ id, isRepeated: true });
    expect(await held(aCall({ caller }), 0)).toEqual({ id, isRepeated: true });
  });

  test("keeps its state when a rule rejects the transaction that claims it again", async () => {
    const caller = aBusinessCaller();
    const { id } = await held(aCall({ caller }), 0);
    const rejected = transaction(db.orm, async (em) => {
      await claimKey(em, aCall({ caller }), ApiKeySchema, { heldMs: 60_000 });
      throw new Error("rejected by a rule");
    });
    await expect(rejected).rejects.toThrow("rejected by a rule");
    expect(await held(aCall({ caller }), 0)).toEqual({ id, isRepeated: true });
  });

  test("is in progress without waiting while another transaction ends it, and is not executed again", async () => {
    const caller = aBusinessCaller();
    const { id } = await held(aCall({ caller }), 0);
    await transaction(db.orm, async (em) => {
      (await lockKey(em, id))?.storeResponse(ApiKeySchema, { id: "1", name: "n" });
      await em.flush();
      await expect(hold(aCall({ caller }), 0)).rejects.toMatchObject(inProgress);
    });
    expect(await hold(aCall({ caller }), 0)).toMatchObject({ replayed: { id: "1" } });
  });

  test("is claimed by exactly one of ten concurrent calls", async () => {
    const caller = aBusinessCaller();
    await held(aCall({ caller }), 0);
    const claims = await Promise.allSettled(Array.from({ length: 10 }, () => hold(aCall({ caller }), 60_000)));
    expect(claims.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("becomes free 24 hours after its last claim, unless it is still held", async () => {
    const caller = aBusinessCaller();
    const released = await held(aCall({ caller, key: "released" }), 0);
    const stillHeld = await held(aCall({ caller, key: "held" }), 60_000);
    await setAge("24 hours 1 minute");
    expect((await held(aCall({ caller, key: "released", fingerprint: "f2" }), 0)).id).not.toBe(released.id);
    await expect(hold(aCall({ caller, key: "held" }), 0)).rejects.toMatchObject(inProgress);
    await setAge("24 hours 1 minute");
    expect(await cleanKeys(db)).toBe(1);
    expect(await keys()).toEqual(["held"]);
    expect(stillHeld.id).not.toBe("");
  });

  test("replays a late response for 24 hours after that response", async () => {
    const caller = aBusinessCaller();
    const { id } = await held(aCall({ caller }), 0);
    await setAge("23 hours 59 minutes");
    expect(await held(aCall({ caller }), 0)).toEqual({ id, isRepeated: true });
    await end(id, storeResponse);
    await advance("23 hours");
    expect(await hold(aCall({ caller }), 0)).toMatchObject({ replayed: { id: "1" } });
  });

  test("expires by the clock of the database", async () => {
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
  await beginAndEnd(aCall({ caller, key: "old response" }), storeResponse);
  await beginAndEnd(aCall({ caller, key: "old refusal" }), (record) => record.storeRefusal(refused));
  await begin(aCall({ caller, key: "old and unfinished" }));
  await setAge("24 hours 1 minute");
  await beginAndEnd(aCall({ caller, key: "new response" }), storeResponse);
  await begin(aCall({ caller, key: "new and unfinished" }));
  expect(await cleanKeys(db, 1)).toBe(1);
  expect(await cleanKeys(db)).toBe(1);
  expect(await cleanKeys(db)).toBe(0);
  expect(await keys()).toEqual(["new and unfinished", "new response", "old and unfinished"]);
});

test("startHourlyJobs runs cleanKeys at the start, until no expired key is left", async () => {
  await beginAndEnd(aCall({ key: "old" }), storeResponse);
  await setAge("25 hours");
  await using stack = new AsyncDisposableStack();
  for (const job of startHourlyJobs({ ...db, logger: createLogger("test", "silent") }, { cleanKeys })) stack.use(job);
  await vi.waitFor(async () => expect(await keys()).toEqual([]), 90_000);
});
