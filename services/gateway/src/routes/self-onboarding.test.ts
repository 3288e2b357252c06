import { generateApiKey, hashApiKey } from "@amana/api-keys";
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
  gateway.behaviour.invitations.resolveInvitation = async ({ tokenHash }) => ({
    isGood: Buffer.from(tokenHash).equals(hashApiKey(token)),
  });
});

const token = generateApiKey("inv_");
const id = "019a0000-0000-7000-8000-000000000001";
const at = 1_795_170_000_000n;
const atText = "2026-11-20T10:20:00.000Z";
const rpcs = () => gateway.received.map(({ rpc }) => rpc);

describe("POST /onboarding/businesses", () => {
  const post = (authorization: string | undefined, payload: object | string) =>
    gateway.app.inject({
      method: "POST",
      url: "/api/v1/onboarding/businesses",
      headers: { "content-type": "application/json", ...(authorization && { authorization }) },
      payload,
    });
  const validBody = { name: " El Kitab ", contact_email: "amina@example.dz" };

  test("POST /onboarding/businesses returns 201 with a key and the status PENDING", async () => {
    const times = { createdAtMs: at, updatedAtMs: at };
    gateway.behaviour.invitations.onboardBusiness = async ({ name, contactEmail }) => ({
      ...{ id, name, contactEmail, status: BusinessStatus.PENDING, ...times },
      ...{ organizationId: 7, apiKey: "sk_test_secret", apiKeyPrefix: "sk_test_00000000" },
    });
    const response = await post(`Bearer ${token}`, validBody);
    expect([response.statusCode, response.headers["location"]]).toEqual([201, "/api/v1/me"]);
    expect(response.json()).toEqual({
      id,
      name: "El Kitab",
      status: "PENDING",
      created_at: atText,
      updated_at: atText,
      contact_email: "amina@example.dz",
      api_key: "sk_test_secret",
      api_key_prefix: "sk_test_00000000",
    });
    expect(gateway.received.at(-1)?.request).toMatchObject({ tokenHash: hashApiKey(token), name: "El Kitab" });
  });

  test("POST /onboarding/businesses returns 401 for an invalid invitation before the body is validated", async () => {
    for (const authorization of [undefined, "Bearer ", `Bearer ${generateApiKey("inv_")}`, `Bearer ${token}x`, "Basic x"]) {
      const response = await post(authorization, "{");
      expect([response.statusCode, response.json().code], authorization).toEqual([401, "invalid_invitation"]);
      expect(response.headers["www-authenticate"]).toBe("Bearer");
    }
    for (const { headers } of [gateway.business, gateway.admin]) {
      expect((await post(headers.authorization, validBody)).json().code).toBe("invalid_invitation");
    }
    // The gateway rejects malformed tokens and API keys without an RPC.
    expect(rpcs()).toEqual(["ResolveInvitation"]);
  });

  test.each([
    [{ name: "x" }, "/contact_email"],
    [{ contact_email: "amina@example.dz" }, "/name"],
    [{ ...validBody, contact_email: "amina" }, "/contact_email"],
    [{ ...validBody, status: "ACTIVE" }, "/status"],
  ])("POST /onboarding/businesses rejects the body %j", async (payload, pointer) => {
    const response = await post(`Bearer ${token}`, payload);
    expect(response.json()).toMatchObject({ status: 422, errors: [expect.objectContaining({ pointer })] });
    expect(rpcs()).toEqual(["ResolveInvitation"]);
  });

  test("POST /onboarding/businesses returns 409 for a used invitation", async () => {
    gateway.behaviour.invitations.onboardBusiness = async () => {
      throw new DomainError("conflict", "invitation_used", "The invitation was used.");
    };
    expect((await post(`Bearer ${token}`, validBody)).json()).toMatchObject({ status: 409, code: "invitation_used" });
  });

  test("POST /onboarding/businesses returns 503 if identity is an earlier version that does not support invitations", async () => {
    delete gateway.behaviour.invitations.resolveInvitation;
    expect((await post(`Bearer ${token}`, validBody)).json()).toMatchObject({ status: 503, code: "service_unavailable" });
  });

  test("POST /onboarding/businesses limits the rate of invalid tokens, and still accepts a valid token", async () => {
    await using limitedGateway = await startTestGateway({ limits: { failedAuthPerMinute: 3 } });
    limitedGateway.behaviour.invitations.resolveInvitation = gateway.behaviour.invitations.resolveInvitation!;
    const codeForToken = async (text: string) => {
      const headers = { authorization: `Bearer ${text}` };
      return (await limitedGateway.app.inject({ method: "POST", url: "/api/v1/onboarding/businesses", headers })).json().code;
    };
    const codes = [];
    for (let i = 0; i < 4; i++) codes.push(await codeForToken(generateApiKey("inv_")));
    expect(codes).toEqual([...Array(3).fill("invalid_invitation"), "rate_limited"]);
    expect(await codeForToken(token)).toBe("invalid_json");
  });
});

test("GET /me returns invalid_api_key for an invitation token", async () => {
  const response = await gateway.app.inject({ url: "/api/v1/me", headers: { authorization: `Bearer ${token}` } });
  expect([response.statusCode, response.json().code]).toEqual([401, "invalid_api_key"]);
});

describe("/admin/invitations", () => {
  const send = (role: "admin" | "business", method: "GET" | "POST", path = "", payload?: object) =>
    gateway.app.inject({
      method,
      url: `/api/v1/admin/invitations${path}`,
      headers: gateway[role].headers,
      ...(payload && { payload }),
    });
  const anInvitation = (fields: object = {}) => ({
    ...{ id, name: "Librairie", prefix: "inv_000000000000", createdAtMs: at, expiresAtMs: at, ...fields },
  });
  const expectedJson = { id, name: "Librairie", token_prefix: "inv_000000000000", created_at: atText, expires_at: atText };

  test("POST /admin/invitations returns 201 with the token", async () => {
    gateway.behaviour.invitations.createInvitation = async () => anInvitation({ invitationToken: "inv_secret" });
    const response = await send("admin", "POST", "", { name: "Librairie", expires_at: atText });
    expect([response.statusCode, response.headers["location"]]).toEqual([201, "/api/v1/admin/invitations"]);
    expect(response.json()).toEqual({ ...expectedJson, invitation_token: "inv_secret" });
    expect(gateway.received[0]?.request).toMatchObject({ name: "Librairie", expiresAtMs: at });
  });

  test("GET /admin/invitations returns the state of each invitation, and POST /admin/invitations/{id}/revoke returns the invitation", async () => {
    const endedInvitation = anInvitation({ usedAtMs: at, revokedAtMs: at, businessId: id, invitationToken: "inv_secret" });
    gateway.behaviour.invitations.listInvitations = async () => ({ invitations: [endedInvitation], total: 1 });
    gateway.behaviour.invitations.revokeInvitation = async () => endedInvitation;
    const endedInvitationJson = { ...expectedJson, used_at: atText, revoked_at: atText, business_id: id };
    expect((await send("admin", "GET")).json()).toEqual([endedInvitationJson]);
    expect((await send("admin", "POST", `/${id}/revoke`)).json()).toEqual(endedInvitationJson);
  });

  test("the routes of invitations require an operator key", async () => {
    for (const [method, path] of [
      ["GET", ""],
      ["POST", ""],
      ["POST", `/${id}/revoke`],
    ] as const) {
      expect((await send("business", method, path)).json()).toMatchObject({ status: 403, code: "admin_required" });
    }
    expect(gateway.received).toEqual([]);
  });
});
