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
let deadLetterClient: RpcClient<typeof DeadLetterService>;
/** Keys of messages whose effect fails. */
let failingKeys: Set<string>;
let afterCommit: () => void;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  db = stack.use(await createTestDatabase("messaging", database));
  transport = new MemoryTransport();
  failingKeys = new Set();
  afterCommit = () => {};
  const topicHandler: TopicHandler = {
    topic,
    consumer: "tests",
    schema: PaymentEventSchema,
    effect: async (em, messages) => {
      for (const { key } of messages) if (failingKeys.has(key)) throw new Error("effect failed");
      await recordEffect(em, messages);
    },
    afterCommit: () => afterCommit(),
  };
  stack.use(await consume(topicHandler, { orm: db.orm, transport, logger, retrySeconds: [0.01, 0.01] }));
  const service = deadLetterService({ orm: db.orm, topicHandlers: [topicHandler], record: recordAction("tests"), logger });
  deadLetterClient = createRpcClient(DeadLetterService, stack.use(await startTestServer([service])).channel);
});
afterEach(() => stack.disposeAsync());

const list = async (filter: { topic?: string; status?: DeadLetterStatus } = {}) =>
  (await deadLetterClient.listDeadLetters({ limit: 50, ...filter }, as)).deadLetters;

/**
 * Delivers a message until it is PARKED. Returns the message and the id under which it is
 * dead-lettered.
 */
async function aParkedDeadLetter(key: string, message = aMessage(`body of ${key}`, { key })) {
  failingKeys.add(key);
  await transport.deliver(message);
  const eventId = message.headers["ce_id"];
  const findParked = async () =>
    (await list({ status: DeadLetterStatus.PARKED })).find((deadLetter) => deadLetter.eventId === eventId);
  await eventually(async () => expect(await findParked()).toBeDefined());
  return { message, id: (await findParked())?.id ?? "" };
}

const effectsOf = async (body: string) => (await effects(db.orm)).filter((effect) => effect === body);

async function readAuditTrail() {
  const rows = await db.orm.em
    .fork()
    .execute<{ payload: Buffer }[]>("select payload from outbox where topic = 'audit.v1' order by id");
  return rows.map(({ payload }) => fromBinary(ActionRecordedSchema, payload));
}

test("DeadLetterService applies the event of a message with the status PARKED once when ten retries and two deliveries of the event run concurrently", async () => {
  const { message, id } = await aParkedDeadLetter("p");
  failingKeys.clear();
  const retries = Array.from({ length: 10 }, () => deadLetterClient.retryDeadLetter({ id }, as));
  const results = await Promise.all([...retries, transport.deliver(message), transport.deliver(message)]);
  for (const deadLetter of results) if (deadLetter) expect(deadLetter.status).toBe(DeadLetterStatus.DELIVERED);
  await transport.deliver(message);
  await deadLetterClient.retryDeadLetter({ id }, as);
  expect(await effectsOf("body of p")).toEqual(["body of p"]);
  expect(await list()).toEqual([]);
  expect((await list({ status: DeadLetterStatus.DELIVERED })).map((deadLetter) => deadLetter.id)).toEqual([id]);
});

test("retryDeadLetter returns the reason, leaves the dead-lettered message PARKED and adds an audit entry when the message fails again", async () => {
  const { id } = await aParkedDeadLetter("p");
  expect(await refusal(deadLetterClient.retryDeadLetter({ id }, as))).toMatchObject({
    kind: "conflict",
    code: "dead_letter_failed",
    message: expect.stringContaining("Error: effect failed"),
  });
  expect(await list()).toMatchObject([{ id, status: DeadLetterStatus.PARKED, attempts: 4 }]);
  failingKeys.clear();
  await deadLetterClient.retryDeadLetter({ id }, as);
  expect(await readAuditTrail()).toMatchObject([
    { actor: "ak_test", action: "dead_letter.retried", entityType: "dead_letter", entityId: id, requestId: "request-1" },
    { action: "dead_letter.retried", before: { fields: { status: "PARKED" } }, after: { fields: { status: "DELIVERED" } } },
  ]);
});

test("retryDeadLetter returns the message with the status DELIVERED when the callback after the commit throws", async () => {
  const { id } = await aParkedDeadLetter("p");
  failingKeys.clear();
  afterCommit = () => {
    throw new Error("no worker to wake");
  };
  expect(await deadLetterClient.retryDeadLetter({ id }, as)).toMatchObject({ id, status: DeadLetterStatus.DELIVERED });
  expect(await readAuditTrail()).toMatchObject([{ after: { fields: { status: "DELIVERED" } } }]);
});

test("dropDeadLetter prevents the effect of the event, even after a repeated delivery, and stores the operator's note in the audit trail", async () => {
  const { message, id } = await aParkedDeadLetter("p");
  failingKeys.clear();
  const dropped = await deadLetterClient.dropDeadLetter({ id, note: "sent in error" }, as);
  expect(dropped).toMatchObject({ id, status: DeadLetterStatus.DROPPED, payloadBytes: 0 });
  await deadLetterClient.dropDeadLetter({ id, note: "again" }, as);
  await transport.deliver(message);
  expect(await effectsOf("body of p")).toEqual([]);
  expect(await refusal(deadLetterClient.retryDeadLetter({ id }, as))).toMatchObject({ code: "dead_letter_over" });
  expect(await readAuditTrail()).toMatchObject([{ action: "dead_letter.dropped", entityId: id, reason: "sent in error" }]);
});

test.each([
  ["a retry", (id: string, options: typeof as) => deadLetterClient.retryDeadLetter({ id }, options)],
  ["a drop", (id: string, options: typeof as) => deadLetterClient.dropDeadLetter({ id, note: "not needed" }, options)],
])(
  "%s of a dead-lettered message, when it is repeated with the same Idempotency-Key, returns the same result and adds no second audit entry",
  async (_, change) => {
    const { id } = await aParkedDeadLetter("once");
    failingKeys.clear();
    const first = await change(id, { ...as, ...withIdempotencyKey(adminCaller, `once-${id}`) });
    const repeatedCall = Object.assign(withIdempotencyKey(adminCaller, `once-${id}`), as);
    expect(await change(id, repeatedCall)).toEqual(first);
    expect(repeatedCall.replayed).toBe(true);
    expect(await readAuditTrail()).toHaveLength(1);
  },
);

test("retryDeadLetter applies a later event of a key while the earlier event of the key stays dead-lettered", async () => {
  const first = await aParkedDeadLetter("k");
  const second = await aParkedDeadLetter("k", aMessage("2", { key: "k" }));
  failingKeys.clear();
  expect(await deadLetterClient.retryDeadLetter({ id: second.id }, as)).toMatchObject({ status: DeadLetterStatus.DELIVERED });
  expect((await list()).map(({ id }) => id)).toEqual([first.id]);
});

test("retryDeadLetter rejects a FORGED dead-lettered message, and dropDeadLetter does not affect the authentic event with the same id", async () => {
  const message = aMessage("authentic");
  const [row] = await db.orm.em.fork().execute<{ id: string }[]>(
    `insert into dead_letter (consumer, topic, key, event_type, payload, headers, status, reason)
     values ('tests', ?, 'k', 't', 'good', ?::jsonb, 'FORGED', 'r') returning id`,
    [topic, JSON.stringify(message.headers)],
  );
  const id = row?.id ?? "";
  expect(await list()).toMatchObject([{ id, status: DeadLetterStatus.FORGED, eventId: message.headers["ce_id"] }]);
  expect(await refusal(deadLetterClient.retryDeadLetter({ id }, as))).toMatchObject({ code: "dead_letter_forged" });
  expect(await deadLetterClient.dropDeadLetter({ id, note: "forged" }, as)).toMatchObject({ status: DeadLetterStatus.DROPPED });
  await transport.deliver(message);
  expect(await effects(db.orm)).toEqual(["authentic"]);
});

test("dropDeadLetter leaves a dead-lettered message DELIVERED if the event was published again and took effect", async () => {
  const { id, message } = await aParkedDeadLetter("p");
  failingKeys.clear();
  await transport.deliver(message);
  const ended = await deadLetterClient.dropDeadLetter({ id, note: "n" }, as).catch((error: unknown) => error);
  expect(ended).toMatchObject(ended instanceof Error ? { code: "dead_letter_over" } : { status: DeadLetterStatus.DELIVERED });
  expect(await effectsOf("body of p")).toEqual(["body of p"]);
  expect(await list()).toEqual([]);
});

test("listDeadLetters returns only those headers of a message that CloudEvents defines", async () => {
  const { message } = await aParkedDeadLetter("p", {
    ...aMessage("p", { key: "p" }),
    headers: { ...aMessage("p").headers, ce_other: "x" },
  });
  const { ce_other: _, ...shown } = message.headers;
  expect((await list())[0]?.headers).toEqual(shown);
});

test("getDeadLetter returns ids, enums and numbers of the payload, and only the length of other strings", async () => {
  const [paymentId, businessId] = [uuidv7(), uuidv7()];
  const event: PaymentEvent = create(PaymentEventSchema, {
    type: PaymentEventType.PAYMENT_REFUNDED,
    payment: { id: paymentId, businessId, status: PaymentStatus.REFUNDED, orderRef: "Benali 7", amountMinor: 500_000n },
  });
  const payload = toBinary(PaymentEventSchema, event);
  const { id } = await aParkedDeadLetter("p", { ...aMessage("", { key: "p" }), payload });
  const deadLetter = await deadLetterClient.getDeadLetter({ id }, as);
  expect(deadLetter).toMatchObject({
    service: "tests",
    topic,
    eventType: "tests.v1.Test",
    reason: "Error: effect failed",
    payloadBytes: payload.length,
    headers: { ce_type: "tests.v1.Test" },
  });
  expect(JSON.parse(deadLetter.payloadJson ?? "")).toEqual({
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

test("DeadLetterService rejects calls of businesses, filters by topic and status, and returns not_found for unknown ids", async () => {
  const { id } = await aParkedDeadLetter("p");
  for (const call of [
    deadLetterClient.listDeadLetters({ limit: 1 }, { caller: aBusinessCaller() }),
    deadLetterClient.getDeadLetter({ id }, { caller: aBusinessCaller() }),
    deadLetterClient.retryDeadLetter({ id }, { caller: aBusinessCaller() }),
    deadLetterClient.dropDeadLetter({ id, note: "n" }, { caller: aBusinessCaller() }),
  ]) {
    expect(await refusal(call)).toMatchObject({ code: "admin_required" });
  }
  expect(await list({ topic })).toHaveLength(1);
  expect(await list({ topic: "others.v1" })).toEqual([]);
  expect(await list({ status: DeadLetterStatus.PARKED })).toHaveLength(1);
  expect(await list({ status: DeadLetterStatus.DROPPED })).toEqual([]);
  expect(await list()).toHaveLength(1);
  for (const unknown of [uuidv7(), "x"]) {
    expect(await refusal(deadLetterClient.getDeadLetter({ id: unknown }, as))).toMatchObject({ kind: "not_found" });
    expect(await refusal(deadLetterClient.retryDeadLetter({ id: unknown }, as))).toMatchObject({ kind: "not_found" });
  }
  expect(await deadLetters(db.orm)).toHaveLength(1);
});
