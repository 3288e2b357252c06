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
 * Begins an execution that needs two transactions, as for a call to an external system. Returns the
 * id of the record.
 */
const beginExecution = (call: Call) =>
  transaction(db.orm, async (em) => {
    const claim = await claimKey(em, call, ApiKeySchema);
    return "replayed" in claim ? claim : { id: claim.record?.id as string };
  });

const endExecution = (id: string, finish: (record: IdempotencyRecord) => void) =>
  transaction(db.orm, async (em) => finish(await em.findOneOrFail(IdempotencyRecord, { id })));

async function execute(call: Call, finish: (record: IdempotencyRecord) => void) {
  const execution = await beginExecution(call);
  if ("id" in execution) await endExecution(execution.id, finish);
}

const setAge = (interval: string) =>
  db.orm.em.fork().execute(`update idempotency_key set created_at = now() - interval '${interval}'`);
const advance = (interval: string) =>
  db.orm.em.fork().execute(`update idempotency_key set created_at = created_at - interval '${interval}'`);
const storedKeys = async () => {
  const rows = await db.orm.em.fork().execute<{ key: string }[]>("select key from idempotency_key order by key");
  return rows.map(({ key }) => key);
};
const reusedError = { kind: "invalid", code: "idempotency_key_reused" };
const inProgressError = { kind: "conflict", code: "idempotency_in_progress" };
const storeResponse = (record: IdempotencyRecord) => record.storeResponse(ApiKeySchema, { id: "1", name: "n" });

test("claimKey throws idempotency_in_progress while the first call with the key runs, and later replays that call's response", async () => {
  const caller = aBusinessCaller();
  const execution = (await beginExecution(aCall({ caller }))) as { id: string };
  await expect(beginExecution(aCall({ caller }))).rejects.toMatchObject(inProgressError);
  await expect(beginExecution(aCall({ caller, fingerprint: "f2" }))).rejects.toMatchObject({
    ...reusedError,
  });
  await endExecution(execution.id, storeResponse);
  const call = aCall({ caller });
  expect(await beginExecution(call)).toMatchObject({ replayed: { id: "1", name: "n" } });
  expect(call.replays).toBe(1);
});

test("claimKey throws the stored refusal again, with all its fields, when a refused call is repeated", async () => {
  const caller = aBusinessCaller();
  const refused = new DomainError("refused_upstream", "refund_refused", "The bank refused the refund.", {
    pointer: "/amount",
    members: { processor_error_code: "7" },
  });
  await execute(aCall({ caller }), (record) => record.storeRefusal(refused));
  for (let repetition = 0; repetition < 2; repetition++) {
    const call = aCall({ caller });
    const error = await beginExecution(call).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DomainError);
    expect({ ...(error as DomainError), message: (error as DomainError).message }).toEqual({
      ...refused,
      message: refused.message,
    });
    expect(call.replays).toBe(1);
  }
});

test("claimKey takes an advisory lock with two numbers, so that no key shares a lock with a relay or with other work", async () => {
  await transaction(db.orm, async (em) => {
    await claimKey(em, aCall({ caller: aBusinessCaller() }), ApiKeySchema);
    // `objsubid` is 1 for a lock with one number, and 2 for a lock with two numbers.
    const locks = await em.execute("select objsubid from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()");
    expect(locks).toEqual([{ objsubid: 2 }]);
  });
});

test("claimKey uses one prepared statement for all keys", async () => {
  await transaction(db.orm, async (em) => {
    for (const key of ["a", "b", "c"]) await claimKey(em, aCall({ key }), ApiKeySchema);
    const statements = "select name from pg_prepared_statements where statement like '%pg_try_advisory_xact_lock%'";
    expect(await em.execute(statements)).toHaveLength(1);
  });
});

test("claimKey replays a stored response even if the response has no content", async () => {
  const caller = aBusinessCaller();
  await execute(aCall({ caller }), (record) => record.storeResponse(ApiKeySchema, {}));
  expect(await beginExecution(aCall({ caller }))).toMatchObject({ replayed: { id: "", name: "" } });
});

describe("the retention of an Idempotency-Key", () => {
  const refused = new DomainError("refused_upstream", "refund_refused", "The bank refused the refund.");

  test.each([
    ["response", storeResponse, (result: Promise<unknown>) => expect(result).resolves.toMatchObject({ replayed: { id: "1" } })],
    [
      "refusal",
      (record: IdempotencyRecord) => record.storeRefusal(refused),
      (result: Promise<unknown>) => expect(result).rejects.toMatchObject({ code: "refund_refused" }),
    ],
  ])(
    "claimKey throws idempotency_in_progress during an execution of 30 days, and then replays the stored %s for only 24 hours",
    async (_kind, finish, expectReplay) => {
      const caller = aBusinessCaller();
      const execution = (await beginExecution(aCall({ caller }))) as { id: string };
      await setAge("30 days");
      expect(await cleanKeys(db)).toBe(0);
      await expect(beginExecution(aCall({ caller }))).rejects.toMatchObject(inProgressError);
      await endExecution(execution.id, finish);
      await advance("23 hours 59 minutes");
      expect(await cleanKeys(db)).toBe(0);
      await expectReplay(beginExecution(aCall({ caller })));
      await advance("2 minutes");
      expect(await beginExecution(aCall({ caller }))).toMatchObject({ id: expect.not.stringContaining(execution.id) });
    },
  );

  test("claimKey replays a response for 24 hours after the execution, even if an earlier version of the service stored the response", async () => {
    const caller = aBusinessCaller();
    const execution = (await beginExecution(aCall({ caller }))) as { id: string };
    await setAge("30 days");
    await db.orm.em.fork().execute("update idempotency_key set answer = '' where id = ?", [execution.id]);
    await advance("23 hours 59 minutes");
    expect(await cleanKeys(db)).toBe(0);
    expect(await beginExecution(aCall({ caller }))).toMatchObject({ replayed: { id: "" } });
  });
});

describe("a held Idempotency-Key", () => {
  const claimHeldKey = (call: Call, heldMs: number) =>
    transaction(db.orm, async (em) => {
      const claim = await claimKey(em, call, ApiKeySchema, { heldMs });
      return "replayed" in claim ? claim : { id: claim.record?.id ?? "", isRepeated: claim.isRepeated };
    });
  const claimRecord = async (call: Call, heldMs: number) => {
    const claim = await claimHeldKey(call, heldMs);
    return "id" in claim ? claim : { id: "", isRepeated: false };
  };

  test("claimKey throws idempotency_in_progress for a held key until held_until, and then accepts only the same request", async () => {
    const caller = aBusinessCaller();
    const firstClaim = await claimRecord(aCall({ caller }), 60_000);
    expect(firstClaim.isRepeated).toBe(false);
    await expect(claimHeldKey(aCall({ caller }), 60_000)).rejects.toMatchObject(inProgressError);
    await db.orm.em.fork().execute("update idempotency_key set held_until = now()");
    await expect(claimHeldKey(aCall({ caller, fingerprint: "f2" }), 60_000)).rejects.toMatchObject(reusedError);
    expect(await claimRecord(aCall({ caller }), 60_000)).toEqual({ id: firstClaim.id, isRepeated: true });
    await expect(claimHeldKey(aCall({ caller }), 60_000)).rejects.toMatchObject(inProgressError);
    await endExecution(firstClaim.id, storeResponse);
    expect(await claimHeldKey(aCall({ caller }), 60_000)).toMatchObject({ replayed: { id: "1" } });
  });

  test("claimKey accepts the same request for a held key immediately after `release`", async () => {
    const caller = aBusinessCaller();
    const { id } = await claimRecord(aCall({ caller }), 60_000);
    await endExecution(id, (record) => record.release());
    expect(await claimRecord(aCall({ caller }), 0)).toEqual({ id, isRepeated: true });
    expect(await claimRecord(aCall({ caller }), 0)).toEqual({ id, isRepeated: true });
  });

  test("claimKey does not change a held key when the transaction of the repeated claim is rolled back", async () => {
    const caller = aBusinessCaller();
    const { id } = await claimRecord(aCall({ caller }), 0);
    const rejectedClaim = transaction(db.orm, async (em) => {
      await claimKey(em, aCall({ caller }), ApiKeySchema, { heldMs: 60_000 });
      throw new Error("rejected by a rule");
    });
    await expect(rejectedClaim).rejects.toThrow("rejected by a rule");
    expect(await claimRecord(aCall({ caller }), 0)).toEqual({ id, isRepeated: true });
  });

  test("claimKey throws idempotency_in_progress at once while another transaction stores the response of a held key", async () => {
    const caller = aBusinessCaller();
    const { id } = await claimRecord(aCall({ caller }), 0);
    await transaction(db.orm, async (em) => {
      (await lockKey(em, id))?.storeResponse(ApiKeySchema, { id: "1", name: "n" });
      await em.flush();
      await expect(claimHeldKey(aCall({ caller }), 0)).rejects.toMatchObject(inProgressError);
    });
    expect(await claimHeldKey(aCall({ caller }), 0)).toMatchObject({ replayed: { id: "1" } });
  });

  test("claimKey accepts exactly one of ten concurrent calls for a key whose hold has ended", async () => {
    const caller = aBusinessCaller();
    await claimRecord(aCall({ caller }), 0);
    const claims = await Promise.allSettled(Array.from({ length: 10 }, () => claimHeldKey(aCall({ caller }), 60_000)));
    expect(claims.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("claimKey accepts another request with a released key 24 hours after the key's last claim, but not with a key that is still held", async () => {
    const caller = aBusinessCaller();
    const released = await claimRecord(aCall({ caller, key: "released" }), 0);
    const stillHeld = await claimRecord(aCall({ caller, key: "held" }), 60_000);
    await setAge("24 hours 1 minute");
    expect((await claimRecord(aCall({ caller, key: "released", fingerprint: "f2" }), 0)).id).not.toBe(released.id);
    await expect(claimHeldKey(aCall({ caller, key: "held" }), 0)).rejects.toMatchObject(inProgressError);
    await setAge("24 hours 1 minute");
    expect(await cleanKeys(db)).toBe(1);
    expect(await storedKeys()).toEqual(["held"]);
    expect(stillHeld.id).not.toBe("");
  });

  test("claimKey replays the response of a held key for 24 hours after the response was stored, even if the execution took a day", async () => {
    const caller = aBusinessCaller();
    const { id } = await claimRecord(aCall({ caller }), 0);
    await setAge("23 hours 59 minutes");
    expect(await claimRecord(aCall({ caller }), 0)).toEqual({ id, isRepeated: true });
    await endExecution(id, storeResponse);
    await advance("23 hours");
    expect(await claimHeldKey(aCall({ caller }), 0)).toMatchObject({ replayed: { id: "1" } });
  });

  test("claimKey compares held_until with the database's clock, not with the process's clock", async () => {
    const caller = aBusinessCaller();
    await claimRecord(aCall({ caller }), 60_000);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 48 * 3_600_000 });
    await expect(claimHeldKey(aCall({ caller }), 60_000))
      .rejects.toMatchObject(inProgressError)
      .finally(() => vi.useRealTimers());
  });
});

test("cleanKeys deletes only keys whose execution ended more than 24 hours ago", async () => {
  const caller = aBusinessCaller();
  const refused = new DomainError("refused_upstream", "refund_refused", "The bank refused the refund.");
  await execute(aCall({ caller, key: "old response" }), storeResponse);
  await execute(aCall({ caller, key: "old refusal" }), (record) => record.storeRefusal(refused));
  await beginExecution(aCall({ caller, key: "old and unfinished" }));
  await setAge("24 hours 1 minute");
  await execute(aCall({ caller, key: "new response" }), storeResponse);
  await beginExecution(aCall({ caller, key: "new and unfinished" }));
  expect(await cleanKeys(db, 1)).toBe(1);
  expect(await cleanKeys(db)).toBe(1);
  expect(await cleanKeys(db)).toBe(0);
  expect(await storedKeys()).toEqual(["new and unfinished", "new response", "old and unfinished"]);
});

test("startHourlyJobs runs cleanKeys at the start, until no expired key is left", async () => {
  await execute(aCall({ key: "old" }), storeResponse);
  await setAge("25 hours");
  await using stack = new AsyncDisposableStack();
  for (const job of startHourlyJobs({ ...db, logger: createLogger("test", "silent") }, { cleanKeys })) stack.use(job);
  await vi.waitFor(async () => expect(await storedKeys()).toEqual([]), 90_000);
});

test("claimKey does not claim a finished record again if the execution ended in the same millisecond in which the record was claimed", async () => {
  const caller = aBusinessCaller();
  const firstClaim = (await transaction(db.orm, (em) => claimKey(em, aCall({ caller }), ApiKeySchema, { heldMs: 0 }))) as {
    record: IdempotencyRecord;
  };
  const em = db.orm.em.fork();
  const execute = em.execute.bind(em) as (...args: unknown[]) => Promise<unknown>;
  let statements = 0;
  // Ends the execution between the two statements of the second claim, without a change of
  // `created_at`.
  vi.spyOn(em, "execute").mockImplementation((async (...args: unknown[]) => {
    const rows = await execute(...args);
    if (statements++ === 0) {
      await endExecution(firstClaim.record.id, storeResponse);
      await db.orm.em
        .fork()
        .execute("update idempotency_key set created_at = ? where id = ?", [firstClaim.record.keptFrom, firstClaim.record.id]);
    }
    return rows;
  }) as never);
  await expect(claimKey(em, aCall({ caller }), ApiKeySchema, { heldMs: 1_000 })).rejects.toMatchObject(inProgressError);
  expect(await beginExecution(aCall({ caller }))).toMatchObject({ replayed: { id: "1", name: "n" } });
});
