import { randomBytes } from "node:crypto";
import { ActionRecordedSchema } from "@amana/contracts/identity/v1/audit_events_pb";
import { consume, createTransport } from "@amana/messaging";
import { createLogger, uuidv7 } from "@amana/runtime";
import { createTestDatabase, startTestServer, testEventKeys } from "@amana/testing";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { database } from "../orm.ts";
import { audit } from "./audit.ts";

const stack = new AsyncDisposableStack();
let deliver: (messages: { key: string; payload: Uint8Array; headers: Record<string, string> }[]) => Promise<unknown>;
let sql: <Row>(text: string, values?: unknown[]) => Promise<Row[]>;

beforeAll(async () => {
  const logger = createLogger("test", "silent");
  const { orm } = stack.use(await createTestDatabase("identity", database));
  const openTransport = (subscribers: Record<string, string[]>) =>
    createTransport({ kind: "direct", subscribers, keys: testEventKeys("audit.v1") }, { clientId: "test", logger });
  const transport = stack.use(await openTransport({}));
  stack.use(await consume(audit, { orm, transport, logger }));
  const { url } = stack.use(await startTestServer([...transport.services]));
  const publisher = stack.use(await openTransport({ "audit.v1": [url] }));
  deliver = (messages) => publisher.publish("audit.v1", messages);
  sql = async <Row>(text: string, values: unknown[] = []) => await orm.em.fork().execute<Row[]>(text, values);
});
afterAll(() => stack.disposeAsync());

const occurredAt = "2026-11-20T10:00:00.123Z";
function anAction(fields: object = {}) {
  const id = uuidv7();
  const entityId = uuidv7();
  const payload = toBinary(
    ActionRecordedSchema,
    create(ActionRecordedSchema, {
      actor: "ak_test",
      action: "kyc_application.reviewed",
      entityType: "kyc_application",
      entityId,
      before: { fields: { verdict: "NEEDS_REVIEW" } },
      after: { fields: { verdict: "APPROVED" } },
      requestId: "request-1",
      address: "192.0.2.7",
      ...fields,
    }),
  );
  return {
    id,
    entityId,
    message: { key: entityId, payload, headers: { ce_id: id, ce_time: occurredAt, ce_type: "identity.v1.ActionRecorded" } },
  };
}

test("the audit consumer inserts one row for an action that is delivered repeatedly", async () => {
  const businessId = uuidv7();
  const keyId = uuidv7();
  await sql("insert into admin_key (id, name, prefix, hash, created_at) values (?, 'amina', 'ak_test', ?, now())", [
    keyId,
    randomBytes(32),
  ]);
  const { id, entityId, message } = anAction({ businessId, reason: "seen the file", actorKeyId: keyId });
  await deliver([message]);
  await deliver([message, message]);
  expect(await sql("select *, to_json(at) as at from audit_event where entity_id = ?", [entityId])).toEqual([
    {
      id,
      at: expect.stringContaining("10:00:00.123"),
      actor: "ak_test",
      actor_key_id: keyId,
      actor_name: "amina",
      action: "kyc_application.reviewed",
      entity_type: "kyc_application",
      entity_id: entityId,
      business_id: businessId,
      before: { verdict: "NEEDS_REVIEW" },
      after: { verdict: "APPROVED" },
      request_id: "request-1",
      address: "192.0.2.7",
      reason: "seen the file",
    },
  ]);
});

test("the audit consumer stores null as `before` for an action without a previous state, and null as `actor_name` for an unknown key", async () => {
  const { entityId, message } = anAction({ before: undefined, actorKeyId: uuidv7() });
  await deliver([message]);
  expect(await sql("select before, business_id, reason, actor_name from audit_event where entity_id = ?", [entityId])).toEqual([
    { before: null, business_id: null, reason: null, actor_name: null },
  ]);
});

test("the audit consumer inserts one row for each of two actions that are delivered repeatedly and out of order", async () => {
  const entityId = uuidv7();
  const [firstAction, secondAction] = [anAction({ entityId, reason: "first" }), anAction({ entityId, reason: "second" })];
  await deliver([secondAction.message]);
  await deliver([firstAction.message, secondAction.message]);
  await deliver([firstAction.message]);
  expect(await sql("select id, reason from audit_event where entity_id = ? order by reason", [entityId])).toEqual([
    { id: firstAction.id, reason: "first" },
    { id: secondAction.id, reason: "second" },
  ]);
});

test("the audit consumer dead-letters an invalid message and processes the rest of the batch", async () => {
  const validAction = anAction();
  const invalidAction = anAction({ entityId: "nothing" });
  await deliver([invalidAction.message, validAction.message]);
  expect(await sql("select id from audit_event where id = ?", [validAction.id])).toHaveLength(1);
  expect(await sql("select event_id from dead_letter")).toEqual([{ event_id: invalidAction.id }]);
});
