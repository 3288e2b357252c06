import { ActionRecordedSchema } from "@amana/contracts/identity/v1/audit_events_pb";
import { DeadLetterService, DeadLetterStatus } from "@amana/contracts/messaging/v1/dead_letter_service_pb";
import { type PaymentEvent, PaymentEventSchema, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { createRpcClient, type RpcClient } from "@amana/rpc";
import { createLogger, uuidv7 } from "@amana/runtime";
import {
  aBusinessCaller,
  adminCaller,
  createTestDatabase,
  eventually,
  keyed,
  refusal,
  startTestServer,
  type TestDatabase,
  testEventKeys,
} from "@amana/testing";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, test } from "vitest";
import { database, deadLetters, effects, topic, writeDown } from "../test/database.ts";
import { aMessage, MemoryTransport } from "../test/memory-transport.ts";
import { type Consumption, consume, createMessageKeys, deadLetterService, recordAction } from "./index.ts";

const logger = createLogger("test", "silent");
const as = { caller: adminCaller, requestId: "request-1", address: "192.0.2.7" };
let db: TestDatabase;
let transport: MemoryTransport;
let stack: AsyncDisposableStack;
let letters: RpcClient<typeof DeadLetterService>;
/** What cannot be handled; whoever is taken out is mended. */
let broken: Set<string>;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  db = stack.use(await createTestDatabase("messaging", database));
  transport = new MemoryTransport();
  broken = new Set();
  const consumption: Consumption = {
    topic,
    consumer: "tests",
    schema: PaymentEventSchema,
    effect: async (em, messages) => {
      for (const { key } of messages) if (broken.has(key)) throw new Error("not to be handled");
      await writeDown(em, messages);
    },
  };
  stack.use(await consume(consumption, { orm: db.orm, transport, logger, retrySeconds: [0.01, 0.01] }));
  const keys = createMessageKeys(testEventKeys(topic));
  const service = deadLetterService({ orm: db.orm, keys, consumptions: [consumption], record: recordAction("tests") });
  letters = createRpcClient(DeadLetterService, stack.use(await startTestServer([service])).channel);
});
afterEach(() => stack.disposeAsync());

const list = async (filter: { topic?: string; status?: DeadLetterStatus } = {}) =>
  (await letters.listDeadLetters({ limit: 50, ...filter }, as)).deadLetters;

/** A message that has been parked, and which one it was. */
async function aParked(key: string, message = aMessage(`body of ${key}`, { key })) {
  broken.add(key);
  await transport.deliver(message);
  await eventually(async () => {
    await transport.deliver(aMessage("another", { key: "other" }));
    const letter = (await list()).find((one) => one.key === key);
    expect(letter?.status).toBe(DeadLetterStatus.PARKED);
  });
  const [letter] = (await list()).filter((one) => one.key === key);
  return { message, id: letter?.id ?? "" };
}

const effectsOf = async (body: string) => (await effects(db.orm)).filter((one) => one === body);

async function audited() {
  const rows = await db.orm.em
    .fork()
    .execute<{ payload: Buffer }[]>("select payload from outbox where topic = 'audit.v1' order by id");
  return rows.map(({ payload }) => fromBinary(ActionRecordedSchema, payload));
}

test("a parked event that is retried ten times at once, and published again meanwhile, has one effect", async () => {
  const { message, id } = await aParked("p");
  broken.clear();
  const retries = Array.from({ length: 10 }, () => letters.retryDeadLetter({ id }, as));
  const answers = await Promise.all([...retries, transport.deliver(message), transport.deliver(message)]);
  for (const answer of answers) if (answer) expect(answer.status).toBe(DeadLetterStatus.DELIVERED);
  await transport.deliver(message);
  await letters.retryDeadLetter({ id }, as);
  expect(await effectsOf("body of p")).toEqual(["body of p"]);
  expect(await list()).toEqual([]);
  expect((await list({ status: DeadLetterStatus.DELIVERED })).map((letter) => letter.id)).toEqual([id]);
});

test("a retry that fails says why, changes nothing, and is audited like one that succeeds", async () => {
  const { id } = await aParked("p");
  expect(await refusal(letters.retryDeadLetter({ id }, as))).toMatchObject({
    kind: "conflict",
    code: "dead_letter_failed",
    message: expect.stringContaining("Error: not to be handled"),
  });
  expect(await list()).toMatchObject([{ id, status: DeadLetterStatus.PARKED, attempts: 4 }]);
  broken.clear();
  await letters.retryDeadLetter({ id }, as);
  expect(await audited()).toMatchObject([
    { actor: "ak_test", action: "dead_letter.retried", entityType: "dead_letter", entityId: id, requestId: "request-1" },
    { action: "dead_letter.retried", before: { fields: { status: "PARKED" } }, after: { fields: { status: "DELIVERED" } } },
  ]);
});

test("a dropped event has no effect, also when it comes again, and the note is in the audit trail", async () => {
  const { message, id } = await aParked("p");
  broken.clear();
  const dropped = await letters.dropDeadLetter({ id, note: "sent in error" }, as);
  expect(dropped).toMatchObject({ id, status: DeadLetterStatus.DROPPED, payloadBytes: 0 });
  await letters.dropDeadLetter({ id, note: "again" }, as);
  await transport.deliver(message);
  expect(await effectsOf("body of p")).toEqual([]);
  expect(await refusal(letters.retryDeadLetter({ id }, as))).toMatchObject({ code: "dead_letter_over" });
  expect(await audited()).toMatchObject([{ action: "dead_letter.dropped", entityId: id, reason: "sent in error" }]);
});

test.each([
  ["a retry", (id: string, options: typeof as) => letters.retryDeadLetter({ id }, options)],
  ["a drop", (id: string, options: typeof as) => letters.dropDeadLetter({ id, note: "nobody needs it" }, options)],
])("%s with the same Idempotency-Key answers the same again, and records once", async (_, act) => {
  const { id } = await aParked("once");
  broken.clear();
  const first = await act(id, { ...as, ...keyed(adminCaller, `once-${id}`) });
  const again = Object.assign(keyed(adminCaller, `once-${id}`), as);
  expect(await act(id, again)).toEqual(first);
  expect(again.replayed).toBe(true);
  expect(await audited()).toHaveLength(1);
});

test("an event behind another of its key is not retried before it, and follows when that one is dropped", async () => {
  broken.add("k");
  await transport.deliver(aMessage("1"), aMessage("2"));
  const [second, first] = await list();
  expect(second).toMatchObject({ status: DeadLetterStatus.WAITING });
  expect(await refusal(letters.retryDeadLetter({ id: second?.id ?? "" }, as))).toMatchObject({ code: "dead_letter_behind" });
  broken.clear();
  await letters.dropDeadLetter({ id: first?.id ?? "", note: "n" }, as).catch(() => {});
  await eventually(async () => expect((await effects(db.orm)).at(-1)).toBe("2"));
});

test("a forged event cannot be retried until its key is known, and dropping it leaves the good one alone", async () => {
  const message = aMessage("good");
  const stranger = createMessageKeys({ [topic]: [{ id: "test", key: Buffer.alloc(32, 9) }] });
  await transport.deliverUnsigned(stranger.sign(topic, message));
  const [letter] = await list();
  expect(letter).toMatchObject({ status: DeadLetterStatus.FORGED, eventId: message.headers["ce_id"] });
  const id = letter?.id ?? "";
  expect(await refusal(letters.retryDeadLetter({ id }, as))).toMatchObject({ code: "dead_letter_forged" });
  await letters.dropDeadLetter({ id, note: "forged" }, as);
  await transport.deliver(message);
  expect(await effects(db.orm)).toEqual(["good"]);
});

test("an event that is more than 39 days old cannot be retried, although its MAC is good", async () => {
  await transport.deliver(aMessage("old", { id: uuidv7(Date.now() - 40 * 24 * 60 * 60 * 1000) }));
  const id = (await list())[0]?.id ?? "";
  expect(await refusal(letters.retryDeadLetter({ id }, as))).toMatchObject({ kind: "conflict", code: "dead_letter_too_old" });
  expect(await letters.dropDeadLetter({ id, note: "old" }, as)).toMatchObject({ status: DeadLetterStatus.DROPPED });
  expect(await effects(db.orm)).toEqual([]);
});

test("what forgers write into headers does not swell the list", async () => {
  const names = Array.from(
    { length: 500 },
    (_, i) => `ce_${"abcdefghij"[i % 10]}${"abcdefghij"[Math.trunc(i / 10) % 10]}${"abcde"[Math.trunc(i / 100)]}`,
  );
  const headers = Object.fromEntries(names.map((name) => [name, "x".repeat(100)]));
  const message = aMessage("forged");
  await transport.deliverUnsigned({ ...message, headers: { ...headers, ...message.headers } });
  expect((await list())[0]?.headers).toEqual(message.headers);
});

test("an operator sees what the event is, and no text of a person or business", async () => {
  const [paymentId, businessId] = [uuidv7(), uuidv7()];
  const event: PaymentEvent = create(PaymentEventSchema, {
    type: PaymentEventType.PAYMENT_REFUNDED,
    payment: { id: paymentId, businessId, status: PaymentStatus.REFUNDED, orderRef: "Benali 7", amountMinor: 500_000n },
  });
  const payload = toBinary(PaymentEventSchema, event);
  const { id } = await aParked("p", { ...aMessage("", { key: "p" }), payload });
  const letter = await letters.getDeadLetter({ id }, as);
  expect(letter).toMatchObject({
    service: "tests",
    topic,
    eventType: "tests.v1.Test",
    reason: "Error: not to be handled",
    payloadBytes: payload.length,
    headers: { ce_type: "tests.v1.Test" },
  });
  expect(JSON.parse(letter.payloadJson ?? "")).toEqual({
    type: "PAYMENT_EVENT_TYPE_PAYMENT_REFUNDED",
    payment: {
      id: paymentId,
      business_id: businessId,
      status: "PAYMENT_STATUS_REFUNDED",
      order_ref: "[8 characters]",
      amount_minor: "500000",
    },
  });
  expect((await list())[0]?.payloadJson).toBeUndefined();
});

test("dead letters are for operators, filtered by topic and status, and an unknown or malformed id is none", async () => {
  const { id } = await aParked("p");
  for (const call of [
    letters.listDeadLetters({ limit: 1 }, { caller: aBusinessCaller() }),
    letters.getDeadLetter({ id }, { caller: aBusinessCaller() }),
    letters.retryDeadLetter({ id }, { caller: aBusinessCaller() }),
    letters.dropDeadLetter({ id, note: "n" }, { caller: aBusinessCaller() }),
  ]) {
    expect(await refusal(call)).toMatchObject({ code: "admin_required" });
  }
  expect(await list({ topic })).toHaveLength(1);
  expect(await list({ topic: "others.v1" })).toEqual([]);
  expect(await list({ status: DeadLetterStatus.PARKED })).toHaveLength(1);
  expect(await list({ status: DeadLetterStatus.DROPPED })).toEqual([]);
  expect(await list()).toHaveLength(1);
  for (const unknown of [uuidv7(), "x"]) {
    expect(await refusal(letters.getDeadLetter({ id: unknown }, as))).toMatchObject({ kind: "not_found" });
    expect(await refusal(letters.retryDeadLetter({ id: unknown }, as))).toMatchObject({ kind: "not_found" });
  }
  expect(await deadLetters(db.orm)).toHaveLength(1);
});
