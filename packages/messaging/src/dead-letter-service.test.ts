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
  refusal,
  startTestServer,
  type TestDatabase,
  withIdempotencyKey,
} from "@amana/testing";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, test } from "vitest";
import { database, deadLetters, effects, recordEffect, topic } from "../test/database.ts";
import { aMessage, MemoryTransport } from "../test/memory-transport.ts";
import { consume, deadLetterService, recordAction, type TopicHandler } from "./index.ts";

const logger = createLogger("test", "silent");
const as = { caller: adminCaller, requestId: "request-1", address: "192.0.2.7" };
let db: TestDatabase;
let transport: MemoryTransport;
let stack: AsyncDisposableStack;
let letters: RpcClient<typeof DeadLetterService>;
/** Keys of messages whose effect fails. */
let broken: Set<string>;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  db = stack.use(await createTestDatabase("messaging", database));
  transport = new MemoryTransport();
  broken = new Set();
  const topicHandler: TopicHandler = {
    topic,
    consumer: "tests",
    schema: PaymentEventSchema,
    effect: async (em, messages) => {
      for (const { key } of messages) if (broken.has(key)) throw new Error("effect failed");
      await recordEffect(em, messages);
    },
  };
  stack.use(await consume(topicHandler, { orm: db.orm, transport, logger, retrySeconds: [0.01, 0.01] }));
  const service = deadLetterService({ orm: db.orm, topicHandlers: [topicHandler], record: recordAction("tests") });
  letters = createRpcClient(DeadLetterService, stack.use(await startTestServer([service])).channel);
});
afterEach(() => stack.disposeAsync());

const list = async (filter: { topic?: string; status?: DeadLetterStatus } = {}) =>
  (await letters.listDeadLetters({ limit: 50, ...filter }, as)).deadLetters;

/** Delivers a message until it is PARKED. Returns it with the id of its letter. */
async function aParked(key: string, message = aMessage(`body of ${key}`, { key })) {
  broken.add(key);
  await transport.deliver(message);
  const eventId = message.headers["ce_id"];
  const parked = async () => (await list({ status: DeadLetterStatus.PARKED })).find((letter) => letter.eventId === eventId);
  await eventually(async () => expect(await parked()).toBeDefined());
  return { message, id: (await parked())?.id ?? "" };
}

const effectsOf = async (body: string) => (await effects(db.orm)).filter((effect) => effect === body);

async function audited() {
  const rows = await db.orm.em
    .fork()
    .execute<{ payload: Buffer }[]>("select payload from outbox where topic = 'audit.v1' order by id");
  return rows.map(({ payload }) => fromBinary(ActionRecordedSchema, payload));
}

test("a parked event has one effect when ten concurrent retries and a repeated delivery apply it", async () => {
  const { message, id } = await aParked("p");
  broken.clear();
  const retries = Array.from({ length: 10 }, () => letters.retryDeadLetter({ id }, as));
  const letterStates = await Promise.all([...retries, transport.deliver(message), transport.deliver(message)]);
  for (const letter of letterStates) if (letter) expect(letter.status).toBe(DeadLetterStatus.DELIVERED);
  await transport.deliver(message);
  await letters.retryDeadLetter({ id }, as);
  expect(await effectsOf("body of p")).toEqual(["body of p"]);
  expect(await list()).toEqual([]);
  expect((await list({ status: DeadLetterStatus.DELIVERED })).map((letter) => letter.id)).toEqual([id]);
});

test("a failed retry returns the reason, keeps the letter PARKED, and is audited like a successful one", async () => {
  const { id } = await aParked("p");
  expect(await refusal(letters.retryDeadLetter({ id }, as))).toMatchObject({
    kind: "conflict",
    code: "dead_letter_failed",
    message: expect.stringContaining("Error: effect failed"),
  });
  expect(await list()).toMatchObject([{ id, status: DeadLetterStatus.PARKED, attempts: 4 }]);
  broken.clear();
  await letters.retryDeadLetter({ id }, as);
  expect(await audited()).toMatchObject([
    { actor: "ak_test", action: "dead_letter.retried", entityType: "dead_letter", entityId: id, requestId: "request-1" },
    { action: "dead_letter.retried", before: { fields: { status: "PARKED" } }, after: { fields: { status: "DELIVERED" } } },
  ]);
});

test("a dropped event has no effect, also when it is delivered again, and the audit trail contains the note", async () => {
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
  ["a drop", (id: string, options: typeof as) => letters.dropDeadLetter({ id, note: "not needed" }, options)],
])("%s with the same Idempotency-Key returns the same result and is recorded once", async (_, act) => {
  const { id } = await aParked("once");
  broken.clear();
  const first = await act(id, { ...as, ...withIdempotencyKey(adminCaller, `once-${id}`) });
  const again = Object.assign(withIdempotencyKey(adminCaller, `once-${id}`), as);
  expect(await act(id, again)).toEqual(first);
  expect(again.replayed).toBe(true);
  expect(await audited()).toHaveLength(1);
});

test("an operator's retry applies a later event of a key while the earlier one stays a dead letter", async () => {
  const first = await aParked("k");
  const second = await aParked("k", aMessage("2", { key: "k" }));
  broken.clear();
  expect(await letters.retryDeadLetter({ id: second.id }, as)).toMatchObject({ status: DeadLetterStatus.DELIVERED });
  expect((await list()).map(({ id }) => id)).toEqual([first.id]);
});

test("a FORGED letter cannot be retried, and dropping it does not affect the authentic event with its id", async () => {
  const message = aMessage("authentic");
  const [row] = await db.orm.em.fork().execute<{ id: string }[]>(
    `insert into dead_letter (consumer, topic, key, event_type, payload, headers, status, reason)
     values ('tests', ?, 'k', 't', 'good', ?::jsonb, 'FORGED', 'r') returning id`,
    [topic, JSON.stringify(message.headers)],
  );
  const id = row?.id ?? "";
  expect(await list()).toMatchObject([{ id, status: DeadLetterStatus.FORGED, eventId: message.headers["ce_id"] }]);
  expect(await refusal(letters.retryDeadLetter({ id }, as))).toMatchObject({ code: "dead_letter_forged" });
  expect(await letters.dropDeadLetter({ id, note: "forged" }, as)).toMatchObject({ status: DeadLetterStatus.DROPPED });
  await transport.deliver(message);
  expect(await effects(db.orm)).toEqual(["authentic"]);
});

test("dropping a letter whose event was published again and took effect ends it as DELIVERED", async () => {
  const { id, message } = await aParked("p");
  broken.clear();
  await transport.deliver(message);
  const ended = await letters.dropDeadLetter({ id, note: "n" }, as).catch((error: unknown) => error);
  expect(ended).toMatchObject(ended instanceof Error ? { code: "dead_letter_over" } : { status: DeadLetterStatus.DELIVERED });
  expect(await effectsOf("body of p")).toEqual(["body of p"]);
  expect(await list()).toEqual([]);
});

test("the list of dead letters contains only the CloudEvents headers of a message", async () => {
  const { message } = await aParked("p", {
    ...aMessage("p", { key: "p" }),
    headers: { ...aMessage("p").headers, ce_other: "x" },
  });
  const { ce_other: _, ...shown } = message.headers;
  expect((await list())[0]?.headers).toEqual(shown);
});

test("a letter shows ids, enums and numbers of the payload, and only the length of other strings", async () => {
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
    reason: "Error: effect failed",
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

test("only operators read dead letters, filtered by topic and status; an unknown or malformed id is not found", async () => {
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
