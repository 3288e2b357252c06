import { DeadLetterStatus } from "@amana/contracts/messaging/v1/dead_letter_service_pb";
import { DomainError } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../test/harness.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const id = uuidv7();
const at = 1_795_170_000_000n;
const atText = "2026-11-20T10:20:00.000Z";
const eventId = uuidv7();
const aDeadLetter = (fields: object = {}) => ({
  id,
  service: "webhooks",
  topic: "payments.v1",
  key: eventId,
  eventId,
  eventType: "payments.v1.PaymentRefunded",
  status: DeadLetterStatus.PARKED,
  reason: "TypeError: invalid amount",
  attempts: 11,
  payloadBytes: 120,
  headers: { ce_type: "payments.v1.PaymentRefunded" },
  createdAtMs: at,
  updatedAtMs: at,
  ...fields,
});
const expectedJson = {
  id,
  service: "webhooks",
  topic: "payments.v1",
  event_id: eventId,
  event_type: "payments.v1.PaymentRefunded",
  key: eventId,
  status: "PARKED",
  reason: "TypeError: invalid amount",
  attempts: 11,
  headers: { ce_type: "payments.v1.PaymentRefunded" },
  payload_bytes: 120,
  created_at: atText,
  updated_at: atText,
};

beforeEach(() => {
  gateway.received.length = 0;
  gateway.behaviour.deadLetters.getDeadLetter = async () =>
    aDeadLetter({ payloadJson: '{"payment":{"order_ref":"[8 characters]"}}' });
});

const send = (method: "GET" | "POST", path = "", payload?: object, headers: object = {}) =>
  gateway.app.inject({
    method,
    url: `/api/v1/admin/dead-letters${path}`,
    headers: { ...gateway.admin.headers, ...headers },
    ...(payload === undefined ? {} : { payload }),
  });

test("GET /admin/dead-letters returns the dead-lettered messages of all services, newest first, with the sum of the services' totals", async () => {
  const deadLetters = [3, 1, 2].map((n) => aDeadLetter({ id: uuidv7(), createdAtMs: at + BigInt(n) }));
  gateway.behaviour.deadLetters.listDeadLetters = async () => ({ deadLetters: [deadLetters.shift() ?? aDeadLetter()], total: 5 });
  const response = await send("GET", "?limit=2&offset=1&topic=payments.v1&status=PARKED");
  expect(response.json().map(({ created_at }: { created_at: string }) => created_at.slice(-4, -1))).toEqual(["002", "001"]);
  expect(response.headers["x-total-count"]).toBe("15");
  const expected = { topic: "payments.v1", status: DeadLetterStatus.PARKED, limit: 3, offset: 0 };
  expect(gateway.received.map(({ request }) => request)).toMatchObject([expected, expected, expected]);
});

test("GET /admin/dead-letters with the filter `service` queries only that service, and forwards limit and offset", async () => {
  gateway.behaviour.deadLetters.listDeadLetters = async () => ({ deadLetters: [aDeadLetter()], total: 1 });
  expect((await send("GET", "?service=webhooks&limit=2&offset=4")).json()).toEqual([expectedJson]);
  expect(gateway.received.map(({ request }) => request)).toMatchObject([{ limit: 2, offset: 4 }]);
});

test("GET /admin/dead-letters returns an empty page for the maximum offset", async () => {
  gateway.behaviour.deadLetters.listDeadLetters = async () => ({ deadLetters: [], total: 0 });
  for (const service of ["", "&service=clients"]) {
    const response = await send("GET", `?limit=100&offset=2147483647${service}`);
    expect([response.statusCode, response.json()]).toEqual([200, []]);
  }
});

test("GET /admin/dead-letters/{id} returns the payload, or 404 when no service has the dead-lettered message", async () => {
  expect((await send("GET", `/${id}`)).json()).toEqual({
    ...expectedJson,
    payload: { payment: { order_ref: "[8 characters]" } },
  });
  gateway.behaviour.deadLetters.getDeadLetter = async () => {
    throw new DomainError("not_found", "not_found", "There is no dead-lettered message with this id. Check the id.");
  };
  expect((await send("GET", `/${id}`)).json()).toMatchObject({ status: 404, code: "not_found" });
  expect((await send("GET", "/x")).statusCode).toBe(404);
});

test("GET /admin/dead-letters/{id} returns 503 while a service is unavailable and no other service has the dead-lettered message", async () => {
  let calls = 0;
  gateway.behaviour.deadLetters.getDeadLetter = async () => {
    if (calls++ === 1) throw new DomainError("unavailable", "dead_letters_unavailable", "The service is unavailable.");
    throw new DomainError("not_found", "not_found", "There is no dead-lettered message with this id. Check the id.");
  };
  expect((await send("GET", `/${id}`)).statusCode).toBe(503);
});

test("POST /admin/dead-letters/{id}/retry and /drop forward Idempotency-Key and note to the service that stores the dead-lettered message", async () => {
  gateway.behaviour.deadLetters.retryDeadLetter = async () => aDeadLetter({ status: DeadLetterStatus.DELIVERED });
  gateway.behaviour.deadLetters.dropDeadLetter = async () => aDeadLetter({ status: DeadLetterStatus.DROPPED });
  const retryResponse = await send("POST", `/${id}/retry`, undefined, { "idempotency-key": "k-1" });
  expect([retryResponse.statusCode, retryResponse.json().status]).toEqual([200, "DELIVERED"]);
  expect(gateway.received.at(-1)).toMatchObject({ rpc: "RetryDeadLetter", request: { id } });
  expect(gateway.received.at(-1)?.call.idempotencyKey).toMatchObject({ key: "k-1" });
  const dropResponse = await send("POST", `/${id}/drop`, { note: "sent in error" });
  expect([dropResponse.statusCode, dropResponse.json().status]).toEqual([200, "DROPPED"]);
  expect(gateway.received.at(-1)).toMatchObject({ rpc: "DropDeadLetter", request: { id, note: "sent in error" } });
});

test.each([
  ["", "?service=kyc", "service"],
  ["", "?status=LOST", "status"],
  ["", "?topic=", "topic"],
])("GET /admin/dead-letters%s%s returns 422 and names the invalid parameter", async (_, query, parameter) => {
  expect((await send("GET", query)).json()).toMatchObject({ status: 422, errors: [{ parameter }] });
});

test("POST /admin/dead-letters/{id}/drop requires a note, and /retry rejects any field and returns the service's refusal unchanged", async () => {
  expect((await send("POST", `/${id}/drop`, {})).json()).toMatchObject({ status: 422, errors: [{ pointer: "/note" }] });
  expect((await send("POST", `/${id}/retry`, { force: true })).json()).toMatchObject({ status: 422 });
  gateway.behaviour.deadLetters.retryDeadLetter = async () => {
    throw new DomainError("conflict", "dead_letter_failed", "The message failed again.");
  };
  expect((await send("POST", `/${id}/retry`)).json()).toMatchObject({ status: 409, code: "dead_letter_failed" });
});

test("the routes of dead-lettered messages require an operator key", async () => {
  const asBusiness = await gateway.app.inject({ url: "/api/v1/admin/dead-letters", headers: gateway.business.headers });
  expect(asBusiness.json()).toMatchObject({ status: 403, code: "admin_required" });
});
