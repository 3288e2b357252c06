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
const expectedJson = { id, name: "amina", admin_key_prefix: "ak_0000000000000", created_at: atText };

const send = (role: "admin" | "business", method: "GET" | "POST", path = "", payload?: object) =>
  gateway.app.inject({
    method,
    url: `/api/v1/admin/operator-keys${path}`,
    headers: gateway[role].headers,
    ...(payload && { payload }),
  });

test("POST /admin/operator-keys returns 201 with the key and the Location of the list", async () => {
  gateway.behaviour.operatorKeys.createOperatorKey = async () => aKey({ adminKey: "ak_secret" });
  const response = await send("admin", "POST", "", { name: " amina " });
  expect([response.statusCode, response.headers["location"]]).toEqual([201, "/api/v1/admin/operator-keys"]);
  expect(response.json()).toEqual({ ...expectedJson, admin_key: "ak_secret" });
  expect(gateway.received[0]?.request).toMatchObject({ name: "amina" });
});

test.each([{}, { name: "" }, { name: 7 }, { name: "amina", business_id: id }])(
  "POST /admin/operator-keys rejects the body %j",
  async (payload) => {
    expect((await send("admin", "POST", "", payload)).statusCode).toBe(422);
    expect(gateway.received).toEqual([]);
  },
);

test("GET /admin/operator-keys returns the keys without their plaintext", async () => {
  const operatorKeys = [aKey({ adminKey: "ak_secret", lastUsedAtMs: at, revokedAtMs: at }), aKey()];
  gateway.behaviour.operatorKeys.listOperatorKeys = async () => ({ operatorKeys, total: 2 });
  const response = await send("admin", "GET");
  expect(response.json()).toEqual([{ ...expectedJson, last_used_at: atText, revoked_at: atText }, expectedJson]);
  expect(response.headers["x-total-count"]).toBe("2");
});

test("POST /admin/operator-keys/{id}/revoke accepts a body with a reason or no body, and returns 409 for the last live key", async () => {
  gateway.behaviour.operatorKeys.revokeOperatorKey = async () => aKey({ revokedAtMs: at });
  for (const payload of [undefined, { reason: "left" }]) {
    const response = await send("admin", "POST", `/${id}/revoke`, payload);
    expect([response.statusCode, response.json()]).toEqual([200, { ...expectedJson, revoked_at: atText }]);
  }
  expect(gateway.received.at(-1)?.request).toMatchObject({ id, reason: "left" });
  gateway.behaviour.operatorKeys.revokeOperatorKey = async () => {
    throw new DomainError("conflict", "last_operator_key", "The key is the last operator key.");
  };
  expect((await send("admin", "POST", `/${id}/revoke`)).json()).toMatchObject({ status: 409, code: "last_operator_key" });
});

test("the routes of operator keys require an operator key", async () => {
  for (const [method, path] of [
    ["GET", ""],
    ["POST", ""],
    ["POST", `/${id}/revoke`],
  ] as const) {
    expect((await send("business", method, path)).json()).toMatchObject({ status: 403, code: "admin_required" });
  }
  expect(gateway.received).toEqual([]);
});
