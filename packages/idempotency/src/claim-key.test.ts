import { ApiKeySchema } from "@amana/contracts/identity/v1/api_key_pb";
import { transaction } from "@amana/database";
import { type Call, DomainError } from "@amana/rpc";
import { createLogger } from "@amana/runtime";
import { aBusinessCaller, createTestDatabase, type TestDatabase } from "@amana/testing";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { aCall, database } from "../test/database.ts";
import { cleanKeys } from "./clean-keys.ts";
import { claimKey, IdempotencyRecord, startKeyCleaning } from "./index.ts";

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase("idempotency", database);
});
afterAll(() => db[Symbol.asyncDispose]());
beforeEach(() => db.orm.em.fork().execute("truncate idempotency_key"));

/** Begins an execution of two transactions, as a call to an outside system needs; answers the record's id. */
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
const keys = async () => {
  const rows = await db.orm.em.fork().execute<{ key: string }[]>("select key from idempotency_key order by key");
  return rows.map(({ key }) => key);
};
const inProgress = { kind: "conflict", code: "idempotency_in_progress" };
const answer = (record: IdempotencyRecord) => record.storeAnswer(ApiKeySchema, { id: "1", name: "n" });

test("between the beginning and the end the key is in progress; afterwards it gives the answer", async () => {
  const caller = aBusinessCaller();
  const begun = (await begin(aCall({ caller }))) as { id: string };
  await expect(begin(aCall({ caller }))).rejects.toMatchObject(inProgress);
  await expect(begin(aCall({ caller, fingerprint: "f2" }))).rejects.toMatchObject({
    kind: "invalid",
    code: "idempotency_key_reused",
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

test("an execution whose outcome is unknown is never repeated, however old it is", async () => {
  const caller = aBusinessCaller();
  const begun = (await begin(aCall({ caller }))) as { id: string };
  await age("30 days");
  await expect(begin(aCall({ caller }))).rejects.toMatchObject(inProgress);
  await end(begun.id, answer);
  expect(await begin(aCall({ caller }))).not.toHaveProperty("replayed");
});

test("cleaning deletes the ends of more than a day ago, and nothing else", async () => {
  const caller = aBusinessCaller();
  const refused = new DomainError("refused_upstream", "refund_refused", "No.");
  await beginAndEnd(aCall({ caller, key: "old answer" }), answer);
  await beginAndEnd(aCall({ caller, key: "old refusal" }), (record) => record.storeRefusal(refused));
  await begin(aCall({ caller, key: "old and unfinished" }));
  await age("24 hours 1 minute");
  await beginAndEnd(aCall({ caller, key: "new answer" }), answer);
  await begin(aCall({ caller, key: "new and unfinished" }));
  expect(await cleanKeys(db.orm, 1)).toBe(1);
  expect(await cleanKeys(db.orm)).toBe(1);
  expect(await cleanKeys(db.orm)).toBe(0);
  expect(await keys()).toEqual(["new and unfinished", "new answer", "old and unfinished"]);
});

test("cleaning runs by itself, from the start on, until nothing old is left", async () => {
  await beginAndEnd(aCall({ key: "old" }), answer);
  await age("25 hours");
  await using _cleaning = startKeyCleaning(db.orm, createLogger("test", "silent"));
  await vi.waitFor(async () => expect(await keys()).toEqual([]));
});
