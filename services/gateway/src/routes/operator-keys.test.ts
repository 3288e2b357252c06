import { DomainError } from "@amana/rpc";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../test/harness.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.received.length = 0;
});

const id = "019a0000-0000-7000-8000-000000000002";
const at = 1_795_170_000_000n;
const atText = "2026-11-20T10:20:00.000Z";
const aKey = (fields: object = {}) => ({ id, name: "amina", prefix: "ak_0000000000000", createdAtMs: at, ...fields });
const shown = { id, name: "amina", admin_key_prefix: "ak_0000000000000", created_at: atText };

const send = (role: "admin" | "business", method: "GET" | "POST", path = "", payload?: object) =>
  gateway.app.inject({
    method,
    url: `/api/v1/admin/operator-keys${path}`,
    headers: gateway[role].headers,
    ...(payload && { payload }),
  });

test("issuing one answers 201 with the key, once, and where keys are listed", async () => {
  gateway.behaviour.operatorKeys.createOperatorKey = async () => aKey({ adminKey: "ak_secret" });
  const answer = await send("admin", "POST", "", { name: " amina " });
  expect([answer.statusCode, answer.headers["location"]]).toEqual([201, "/api/v1/admin/operator-keys"]);
  expect(answer.json()).toEqual({ ...shown, admin_key: "ak_secret" });
  expect(gateway.received[0]?.request).toMatchObject({ name: "amina" });
});

test.each([{}, { name: "" }, { name: 7 }, { name: "amina", business_id: id }])("issuing with %j is refused", async (payload) => {
  expect((await send("admin", "POST", "", payload)).statusCode).toBe(422);
  expect(gateway.received).toEqual([]);
});

test("they are listed without secrets", async () => {
  const operatorKeys = [aKey({ adminKey: "ak_secret", lastUsedAtMs: at, revokedAtMs: at }), aKey()];
  gateway.behaviour.operatorKeys.listOperatorKeys = async () => ({ operatorKeys, total: 2 });
  const answer = await send("admin", "GET");
  expect(answer.json()).toEqual([{ ...shown, last_used_at: atText, revoked_at: atText }, shown]);
  expect(answer.headers["x-total-count"]).toBe("2");
});

test("revoking one takes a reason or nothing, and the last one stays", async () => {
  gateway.behaviour.operatorKeys.revokeOperatorKey = async () => aKey({ revokedAtMs: at });
  for (const payload of [undefined, { reason: "left" }]) {
    const answer = await send("admin", "POST", `/${id}/revoke`, payload);
    expect([answer.statusCode, answer.json()]).toEqual([200, { ...shown, revoked_at: atText }]);
  }
  expect(gateway.received.at(-1)?.request).toMatchObject({ id, reason: "left" });
  gateway.behaviour.operatorKeys.revokeOperatorKey = async () => {
    throw new DomainError("conflict", "last_operator_key", "It is the last one.");
  };
  expect((await send("admin", "POST", `/${id}/revoke`)).json()).toMatchObject({ status: 409, code: "last_operator_key" });
});

test("businesses have nothing to do with them", async () => {
  for (const [method, path] of [
    ["GET", ""],
    ["POST", ""],
    ["POST", `/${id}/revoke`],
  ] as const) {
    expect((await send("business", method, path)).json()).toMatchObject({ status: 403, code: "admin_required" });
  }
  expect(gateway.received).toEqual([]);
});
