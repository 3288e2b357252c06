import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import { DomainError } from "@amana/rpc";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../test/harness.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.received.length = 0;
});

const id = "019a0000-0000-7000-8000-000000000001";
const keyId = "019a0000-0000-7000-8000-000000000002";
const at = 1_795_170_000_000n;
const atText = "2026-11-20T10:20:00.000Z";
const aBusiness = (fields: object = {}) => ({
  id,
  name: "Librairie",
  status: BusinessStatus.ACTIVE,
  createdAtMs: at,
  updatedAtMs: at,
  organizationId: 7,
  apiKeyPrefix: "sk_test_00000000",
  ...fields,
});
const aKey = (fields: object = {}) => ({
  id: keyId,
  businessId: id,
  name: "checkout",
  prefix: "sk_test_00000000",
  createdAtMs: at,
  ...fields,
});

type Role = "admin" | "business";
const send = (role: Role, method: "GET" | "POST" | "PATCH", url: string, payload?: object) =>
  gateway.app.inject({
    method,
    url: `/api/v1${url}`,
    headers: gateway[role].headers,
    ...(payload === undefined ? {} : { payload }),
  });

describe("/businesses for operators", () => {
  test("POST /businesses rejects a name of 300 000 combining marks", async () => {
    const response = await send("admin", "POST", "/businesses", { name: `a${"\u0301\u0316".repeat(150_000)}` });
    expect(response.json()).toMatchObject({ status: 422, errors: [{ pointer: "/name" }] });
  });

  test("POST /businesses and the search of GET /businesses both normalize a name to NFC", async () => {
    gateway.behaviour.businesses.createBusiness = async () => aBusiness();
    gateway.behaviour.businesses.listBusinesses = async () => ({ businesses: [], total: 0 });
    const decomposedName = "\u1f82".repeat(100).normalize("NFD");
    await send("admin", "POST", "/businesses", { name: decomposedName });
    await send("admin", "GET", `/businesses?search=${encodeURIComponent(decomposedName)}`);
    expect(gateway.received.map(({ request }) => request)).toMatchObject([
      { name: "\u1f82".repeat(100) },
      { search: "\u1f82".repeat(100) },
    ]);
  });

  test("POST /businesses returns 201 with the Location and the API key", async () => {
    gateway.behaviour.businesses.createBusiness = async () => aBusiness({ apiKey: "sk_test_secret" });
    const response = await send("admin", "POST", "/businesses", { name: "  Cafe\u0301 ", status: "PENDING" });
    expect([response.statusCode, response.headers["location"]]).toEqual([201, `/api/v1/businesses/${id}`]);
    expect(response.json()).toEqual({
      id,
      name: "Librairie",
      status: "ACTIVE",
      created_at: atText,
      updated_at: atText,
      organization_id: 7,
      api_key: "sk_test_secret",
      api_key_prefix: "sk_test_00000000",
    });
    expect(gateway.received[0]).toMatchObject({
      rpc: "CreateBusiness",
      request: { name: "Café", status: BusinessStatus.PENDING },
      call: { caller: { role: "admin" } },
    });
  });

  test.each([
    [{}, "/name"],
    [{ name: "" }, "/name"],
    [{ name: " \u00a0 " }, "/name"],
    [{ name: "x".repeat(201) }, "/name"],
    [{ name: null }, "/name"],
    [{ name: 7 }, "/name"],
    [{ name: ["x"] }, "/name"],
    [{ name: "x", status: "DISABLED" }, "/status"],
    [{ name: "x", status: "active" }, "/status"],
    [{ name: "x", id }, "/id"],
    [{ name: "x", api_key: "sk_test_mine" }, "/api_key"],
  ])("POST /businesses rejects the body %j", async (payload, pointer) => {
    const response = await send("admin", "POST", "/businesses", payload);
    expect([response.statusCode, response.json().code]).toEqual([422, "validation_failed"]);
    expect(response.json().errors).toEqual([expect.objectContaining({ pointer })]);
    expect(gateway.received).toEqual([]);
  });

  test("GET /businesses/{id} returns one business, and GET /businesses sends the filters `status` and `search` to identity", async () => {
    gateway.behaviour.businesses.getBusiness = async () => aBusiness({ apiKeyPrefix: undefined });
    expect((await send("admin", "GET", `/businesses/${id}`)).json()).toEqual({
      id,
      name: "Librairie",
      status: "ACTIVE",
      created_at: atText,
      updated_at: atText,
      organization_id: 7,
    });
    gateway.behaviour.businesses.listBusinesses = async () => ({ businesses: [aBusiness()], total: 1 });
    const list = await send("admin", "GET", "/businesses?status=DISABLED&search=100%25_%5C");
    expect([list.statusCode, list.json().length, list.headers["x-total-count"]]).toEqual([200, 1, "1"]);
    expect(gateway.received[1]?.request).toMatchObject({ status: BusinessStatus.DISABLED, search: "100%_\\" });
  });

  test("GET /businesses, if the total of a search is capped, links to the next page only from a full page", async () => {
    gateway.behaviour.businesses.listBusinesses = async () => ({ businesses: [aBusiness()], total: 1_000, totalIsCapped: true });
    const link = async (limit: number) =>
      String((await send("admin", "GET", `/businesses?search=a&limit=${limit}`)).headers["link"]);
    expect(await link(1)).toContain('offset=1>; rel="next"');
    expect(await link(2)).not.toContain('rel="next"');
  });

  test("PATCH /businesses/{id} returns the changed business, and sends no changes to identity for an empty object", async () => {
    gateway.behaviour.businesses.updateBusiness = async ({ rotateApiKey }) =>
      aBusiness(rotateApiKey ? { apiKey: "sk_test_new" } : {});
    const update = { id, name: "Librairie", status: "ACTIVE", updated_at: atText, api_key_prefix: "sk_test_00000000" };
    const emptyResponse = await send("admin", "PATCH", `/businesses/${id}`, {});
    expect([emptyResponse.statusCode, emptyResponse.json()]).toEqual([200, update]);
    expect(gateway.received[0]?.request).toMatchObject({ id, status: 0, rotateApiKey: false });
    const rotatedResponse = await send("admin", "PATCH", `/businesses/${id}`, {
      name: "B",
      rotate_api_key: true,
      status: "DISABLED",
    });
    expect(rotatedResponse.json()).toEqual({ ...update, api_key: "sk_test_new" });
    expect(gateway.received[1]?.request).toMatchObject({ name: "B", rotateApiKey: true, status: BusinessStatus.DISABLED });
  });

  test.each([
    [{ created_at: atText }, "immutable_field"],
    [{ id }, "immutable_field"],
    [{ id, name: "" }, "validation_failed"],
    [{ nmae: "x" }, "validation_failed"],
    [{ name: null }, "validation_failed"],
    [{ status: null }, "validation_failed"],
    [{ rotate_api_key: "true" }, "validation_failed"],
    [{ rotate_api_key: 1 }, "validation_failed"],
  ])("PATCH /businesses/{id} with the body %j returns 422 with the code %s", async (payload, code) => {
    const response = await send("admin", "PATCH", `/businesses/${id}`, payload);
    expect([response.statusCode, response.json().code]).toEqual([422, code]);
  });

  test("PATCH /businesses/{id} returns 409 for a status transition that is not allowed", async () => {
    gateway.behaviour.businesses.updateBusiness = async () => {
      throw new DomainError("conflict", "invalid_status_transition", "REJECTED is final.");
    };
    const response = await send("admin", "PATCH", `/businesses/${id}`, { status: "ACTIVE" });
    expect([response.statusCode, response.json().code]).toEqual([409, "invalid_status_transition"]);
  });
});

describe("/me", () => {
  test("GET /me omits the fields of a business that only operators get", async () => {
    gateway.behaviour.businesses.getOwnBusiness = async () => aBusiness();
    const response = await send("business", "GET", "/me");
    expect(response.json()).toEqual({
      id,
      name: "Librairie",
      status: "ACTIVE",
      created_at: atText,
      updated_at: atText,
      api_key_prefix: "sk_test_00000000",
    });
  });

  test("PATCH /me renames the business and rotates the key", async () => {
    gateway.behaviour.businesses.updateOwnBusiness = async () => aBusiness({ apiKey: "sk_test_new" });
    const payload = { name: " B ", rotate_api_key: true, previous_key_ttl_seconds: 604_800 };
    const response = await send("business", "PATCH", "/me", payload);
    expect(response.json()).toMatchObject({ id, api_key: "sk_test_new" });
    expect(gateway.received[0]?.request).toMatchObject({ name: "B", rotateApiKey: true, previousKeyTtlSeconds: 604_800 });
  });

  test.each([
    { rotate_api_key: true, previous_key_ttl_seconds: -1 },
    { rotate_api_key: true, previous_key_ttl_seconds: 604_801 },
    { rotate_api_key: true, previous_key_ttl_seconds: 1.5 },
    { rotate_api_key: true, previous_key_ttl_seconds: "60" },
    { status: "ACTIVE" },
    { organization_id: 8 },
  ])("PATCH /me rejects the body %j", async (payload) => {
    expect((await send("business", "PATCH", "/me", payload)).statusCode).toBe(422);
    expect(gateway.received).toEqual([]);
  });

  test.each([{ previous_key_ttl_seconds: 60 }, { previous_key_ttl_seconds: 0, rotate_api_key: false }])(
    "PATCH /me rejects previous_key_ttl_seconds without a rotation: %j",
    async (payload) => {
      const response = await send("business", "PATCH", "/me", payload);
      expect(response.json()).toMatchObject({
        status: 422,
        code: "validation_failed",
        errors: [{ pointer: "/previous_key_ttl_seconds", code: "invalid", message: expect.stringContaining("rotate_api_key") }],
      });
      expect(gateway.received).toEqual([]);
    },
  );

  test("GET /me/api-keys returns the keys without their plaintext", async () => {
    gateway.behaviour.businesses.listOwnApiKeys = async () => ({
      apiKeys: [aKey({ apiKey: "sk_test_secret", revokedAtMs: at, lastUsedAtMs: at, expiresAtMs: at })],
      total: 1,
    });
    const response = await send("business", "GET", "/me/api-keys");
    expect(response.json()).toEqual([
      {
        id: keyId,
        name: "checkout",
        prefix: "sk_test_00000000",
        created_at: atText,
        last_used_at: atText,
        expires_at: atText,
        revoked_at: atText,
      },
    ]);
    expect(response.headers["x-total-count"]).toBe("1");
  });
});

describe("/me/api-keys", () => {
  test("POST /me/api-keys returns 201 with the key and the Location of the list", async () => {
    const allowedIps = ["203.0.113.0/24"];
    const key = aKey({ apiKey: "sk_test_secret", expiresAtMs: at, allowedIps });
    gateway.behaviour.businesses.createOwnApiKey = async () => key;
    const payload = { name: " checkout ", expires_at: atText, allowed_ips: ["203.0.113.7/24"] };
    const response = await send("business", "POST", "/me/api-keys", payload);
    expect([response.statusCode, response.headers["location"]]).toEqual([201, "/api/v1/me/api-keys"]);
    expect(response.json()).toEqual({
      id: keyId,
      name: "checkout",
      api_key: "sk_test_secret",
      prefix: "sk_test_00000000",
      created_at: atText,
      expires_at: atText,
      allowed_ips: allowedIps,
    });
    expect(gateway.received[0]?.request).toMatchObject({ name: "checkout", expiresAtMs: at, allowedIps });
  });

  test.each([
    [{}, "/name"],
    [{ name: "x", business_id: id }, "/business_id"],
    [{ name: "x", expires_at: "2026-11-20" }, "/expires_at"],
    [{ name: "x", allowed_ips: ["localhost"] }, "/allowed_ips"],
  ])("POST /me/api-keys rejects the body %j", async (payload, pointer) => {
    const response = await send("business", "POST", "/me/api-keys", payload);
    expect(response.json()).toMatchObject({ status: 422, errors: [expect.objectContaining({ pointer })] });
    expect(gateway.received).toEqual([]);
  });

  test("POST /me/api-keys/{id}/revoke accepts a body with a reason, an empty object, or no body", async () => {
    gateway.behaviour.businesses.revokeOwnApiKey = async () => aKey({ revokedAtMs: at });
    for (const payload of [undefined, {}, { reason: "lost" }]) {
      const response = await send("business", "POST", `/me/api-keys/${keyId.toUpperCase()}/revoke`, payload);
      const expectedJson = { id: keyId, name: "checkout", prefix: "sk_test_00000000", revoked_at: atText };
      expect([response.statusCode, response.json()]).toEqual([200, expectedJson]);
    }
    expect(gateway.received.at(-1)?.request).toMatchObject({ id: keyId, reason: "lost" });
    expect((await send("business", "POST", "/me/api-keys/x/revoke")).statusCode).toBe(404);
  });

  test("POST /me/api-keys/{id}/revoke returns 404 for an unknown key and 409 for the key that authenticates the request", async () => {
    for (const [kind, code, status] of [
      ["not_found", "not_found", 404],
      ["conflict", "api_key_in_use", 409],
    ] as const) {
      gateway.behaviour.businesses.revokeOwnApiKey = async () => {
        throw new DomainError(kind, code, "no");
      };
      const response = await send("business", "POST", `/me/api-keys/${keyId}/revoke`);
      expect(response.json()).toMatchObject({ status, code });
    }
  });
});

describe("/admin/api-keys", () => {
  test("POST /admin/api-keys returns 201 with the key and the Location of the list", async () => {
    gateway.behaviour.apiKeys.createApiKey = async () => aKey({ apiKey: "sk_test_secret" });
    const response = await send("admin", "POST", "/admin/api-keys", { business_id: id.toUpperCase(), name: " checkout " });
    expect(response.statusCode).toBe(201);
    expect(response.headers["location"]).toBe(`/api/v1/admin/api-keys?business_id=${id}`);
    expect(response.json()).toEqual({
      id: keyId,
      business_id: id,
      name: "checkout",
      api_key: "sk_test_secret",
      api_key_prefix: "sk_test_00000000",
      created_at: atText,
    });
    expect(gateway.received[0]?.request).toMatchObject({ businessId: id, name: "checkout" });
  });

  test.each([
    [{ name: "x" }, "/business_id"],
    [{ business_id: "x", name: "x" }, "/business_id"],
    [{ business_id: id }, "/name"],
    [{ business_id: id, name: "x", expires_at: "tomorrow" }, "/expires_at"],
    [{ business_id: id, name: "x", expires_at: null }, "/expires_at"],
    [{ business_id: id, name: "x", allowed_ips: [] }, "/allowed_ips"],
    [{ business_id: id, name: "x", allowed_ips: "203.0.113.0/24" }, "/allowed_ips"],
    [{ business_id: id, name: "x", allowed_ips: [7] }, "/allowed_ips"],
    [{ business_id: id, name: "x", allowed_ips: ["203.0.113.0/24", "203.0.113.0/33"] }, "/allowed_ips"],
    [{ business_id: id, name: "x", allowed_ips: Array(51).fill("203.0.113.0/24") }, "/allowed_ips"],
  ])("POST /admin/api-keys rejects the body %j", async (payload, pointer) => {
    const response = await send("admin", "POST", "/admin/api-keys", payload);
    expect(response.statusCode).toBe(422);
    expect(response.json().errors).toEqual([expect.objectContaining({ pointer })]);
  });

  test("POST /admin/api-keys returns expires_at and allowed_ips in canonical form", async () => {
    const allowedIps = ["203.0.113.0/24", "2001:db8::/32"];
    gateway.behaviour.apiKeys.createLimitedApiKey = async () => aKey({ apiKey: "sk_test_secret", expiresAtMs: at, allowedIps });
    gateway.behaviour.apiKeys.listApiKeys = async () => ({ apiKeys: [aKey({ expiresAtMs: at, allowedIps })], total: 1 });
    const payload = { business_id: id, name: "till", expires_at: atText, allowed_ips: ["203.0.113.7/24", "2001:DB8:0::/32"] };
    const response = await send("admin", "POST", "/admin/api-keys", payload);
    expect([response.statusCode, response.json()]).toMatchObject([201, { expires_at: atText, allowed_ips: allowedIps }]);
    expect(gateway.received).toMatchObject([
      { rpc: "CreateLimitedApiKey", request: { businessId: id, name: "till", expiresAtMs: at, allowedIps } },
    ]);
    const listResponse = await send("admin", "GET", `/admin/api-keys?business_id=${id}`);
    expect(listResponse.json()).toMatchObject([{ expires_at: atText, allowed_ips: allowedIps }]);
  });

  test("POST /admin/api-keys returns 503 for a limited key and creates no key if identity does not support key limits", async () => {
    delete gateway.behaviour.apiKeys.createLimitedApiKey;
    gateway.behaviour.apiKeys.createApiKey = async () => aKey({ apiKey: "sk_test_secret" });
    const payload = { business_id: id, name: "till", allowed_ips: ["203.0.113.0/24"] };
    const response = await send("admin", "POST", "/admin/api-keys", payload);
    expect([response.statusCode, response.json().code]).toEqual([503, "service_unavailable"]);
    expect(gateway.received.map(({ rpc }) => rpc)).toEqual(["CreateLimitedApiKey"]);
  });

  test("GET /admin/api-keys returns the keys of one business, and requires the filter business_id", async () => {
    gateway.behaviour.apiKeys.listApiKeys = async () => ({ apiKeys: [aKey({ apiKey: "sk_test_secret" })], total: 1 });
    const response = await send("admin", "GET", `/admin/api-keys?business_id=${id}`);
    expect(response.json()).toEqual([
      { id: keyId, business_id: id, name: "checkout", api_key_prefix: "sk_test_00000000", created_at: atText },
    ]);
    const withoutFilter = await send("admin", "GET", "/admin/api-keys");
    expect(withoutFilter.json()).toMatchObject({ status: 422, errors: [{ parameter: "business_id", code: "required" }] });
  });

  test("POST /admin/api-keys/{id}/revoke accepts a body with a reason, an empty object, or no body", async () => {
    gateway.behaviour.apiKeys.revokeApiKey = async () => aKey({ revokedAtMs: at });
    for (const payload of [undefined, {}, { reason: "lost" }]) {
      const response = await send("admin", "POST", `/admin/api-keys/${keyId}/revoke`, payload);
      expect([response.statusCode, response.json()]).toEqual([
        200,
        { id: keyId, business_id: id, name: "checkout", api_key_prefix: "sk_test_00000000", revoked_at: atText },
      ]);
    }
    expect(gateway.received.at(-1)?.request).toMatchObject({ id: keyId, reason: "lost" });
  });
});

test.each([
  ["GET", "/businesses"],
  ["POST", "/businesses"],
  ["GET", `/businesses/${id}`],
  ["PATCH", `/businesses/${id}`],
  ["GET", `/admin/api-keys?business_id=${id}`],
  ["POST", "/admin/api-keys"],
  ["POST", `/admin/api-keys/${id}/revoke`],
] as const)("%s %s rejects the key of a business", async (method, url) => {
  const response = await send("business", method, url);
  expect([response.statusCode, response.json().code]).toEqual([403, "admin_required"]);
  expect(gateway.received).toEqual([]);
});

test.each([
  ["GET", "/me"],
  ["PATCH", "/me"],
  ["GET", "/me/api-keys"],
  ["POST", "/me/api-keys"],
  ["POST", `/me/api-keys/${id}/revoke`],
  ["GET", "/payments"],
  ["POST", "/payments"],
  ["POST", `/payments/${id}/refund`],
  ["GET", "/webhook-endpoints"],
  ["GET", "/events"],
  ["POST", `/events/${id}/redeliver`],
] as const)("%s %s rejects the key of an operator", async (method, url) => {
  const response = await send("admin", method, url);
  expect([response.statusCode, response.json().code]).toEqual([403, "business_key_required"]);
  expect(gateway.received).toEqual([]);
});
