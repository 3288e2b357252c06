import { hashApiKey, readApiKeyKind } from "@amana/api-keys";
import { BusinessStatus } from "@amana/contracts/identity/v1/business_pb";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asAdmin, asPlatform, type Identity, startIdentityForTest, withIdempotencyKey } from "../../test/harness.ts";

let identity: Identity;
beforeAll(async () => {
  identity = await startIdentityForTest();
});
afterAll(() => identity[Symbol.asyncDispose]());

const asInvited = { ...asPlatform, requestId: "request-3", address: "192.0.2.9" };
const tokenHashOf = (token = "") => hashApiKey(token);
const invite = (fields: { name?: string; expiresAtMs?: bigint } = {}, options: object = {}) =>
  identity.invitations.createInvitation({ name: "Librairie", ...fields }, { ...asAdmin, ...options });
const onboard = (token: string | undefined, options: object = {}) =>
  identity.invitations.onboardBusiness(
    { tokenHash: tokenHashOf(token), name: "El Kitab", contactEmail: "amina@example.dz" },
    { ...asInvited, ...options },
  );
const isInvitationValid = async (token: string | undefined) =>
  (await identity.invitations.resolveInvitation({ tokenHash: tokenHashOf(token) }, asPlatform)).isGood;
const findInvitation = async (id: string) =>
  (await identity.invitations.listInvitations({ limit: 100 }, asAdmin)).invitations.find((invitation) => invitation.id === id);
const usedError = { kind: "conflict", code: "invitation_used" };

test("onboardBusiness creates a PENDING business with a key that becomes live when an operator approves the business", async () => {
  const { id, invitationToken, prefix } = await invite();
  const business = await onboard(invitationToken);
  expect(business).toMatchObject({ name: "El Kitab", status: BusinessStatus.PENDING, contactEmail: "amina@example.dz" });
  expect(await identity.stateOf(business.apiKey)).toBe("BUSINESS_PENDING");
  expect(await findInvitation(id)).toMatchObject({ businessId: business.id, usedAtMs: expect.any(BigInt) });
  await identity.businesses.updateBusiness({ id: business.id, status: BusinessStatus.ACTIVE }, asAdmin);
  expect(await identity.stateOf(business.apiKey)).toBe("LIVE");
  const rows = await identity.readAuditRows(business.id);
  const auditFields = { actor: prefix, request_id: "request-3", address: "192.0.2.9" };
  // Both rows have the same time, so the database may return them in either order.
  expect(rows.slice(0, 2).sort((a, b) => b.action.localeCompare(a.action))).toMatchObject([
    { ...auditFields, action: "business.created" },
    { ...auditFields, action: "api_key.created" },
  ]);
  expect(JSON.stringify(rows)).not.toContain("amina@example.dz");
});

describe("invitation", () => {
  test("createInvitation returns the token once, stores only its hash, and sets an expiry of one week by default", async () => {
    const { invitationToken = "", prefix, expiresAtMs, createdAtMs, ...otherFields } = await invite();
    expect(readApiKeyKind(invitationToken)).toBe("inv_");
    expect(prefix).toBe(invitationToken.slice(0, 16));
    expect(Number(expiresAtMs - createdAtMs)).toBe(7 * 86_400_000);
    expect(await findInvitation(otherFields.id)).toMatchObject({ name: "Librairie", prefix });
    expect((await findInvitation(otherFields.id))?.invitationToken).toBeUndefined();
    const [row] = await identity.sql<{ row: string }>("select invitation::text as row from invitation where id = ?", [
      otherFields.id,
    ]);
    expect(row?.row).not.toContain(invitationToken);
    const auditRows = await identity.sql<{ action: string }>("select * from audit_event where entity_id = ?", [otherFields.id]);
    expect(auditRows).toMatchObject([{ action: "invitation.created", actor: "ak_test", after: { name: "Librairie", prefix } }]);
  });

  test.each([-1_000, 31 * 86_400_000])("createInvitation rejects an expiry at %i ms from the current time", async (aheadMs) => {
    const call = invite({ expiresAtMs: BigInt(Date.now() + aheadMs) });
    await expect(call).rejects.toMatchObject({ kind: "invalid", code: "validation_failed", pointer: "/expires_at" });
  });

  test("onboardBusiness registers one business when five concurrent requests use the same invitation", async () => {
    const { invitationToken } = await invite();
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => onboard(invitationToken)));
    const rejections = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(rejections).toHaveLength(4);
    for (const { reason } of rejections) expect(reason).toMatchObject(usedError);
    expect(await isInvitationValid(invitationToken)).toBe(true);
  });

  test("onboardBusiness rejects a revoked, expired or unknown invitation", async () => {
    const revokedInvitation = await invite();
    const firstResponse = await identity.invitations.revokeInvitation({ id: revokedInvitation.id }, asAdmin);
    expect(firstResponse.revokedAtMs).toBeDefined();
    expect(await identity.invitations.revokeInvitation({ id: revokedInvitation.id }, asAdmin)).toEqual(firstResponse);
    const expiredInvitation = await invite();
    await identity.sql("update invitation set expires_at = now() where id = ?", [expiredInvitation.id]);
    for (const token of [revokedInvitation.invitationToken, expiredInvitation.invitationToken, "inv_unknown"]) {
      expect(await isInvitationValid(token)).toBe(false);
      await expect(onboard(token)).rejects.toMatchObject(usedError);
    }
  });

  test("revokeInvitation returns not_found for an unknown id", async () => {
    for (const id of [uuidv7(), "not-a-uuid"]) {
      const call = identity.invitations.revokeInvitation({ id }, asAdmin);
      await expect(call).rejects.toMatchObject({ kind: "not_found", code: "not_found" });
    }
  });
});

test("onboardBusiness returns the existing business without the secret when a call repeats the invitation and Idempotency-Key", async () => {
  const [firstInvitation, secondInvitation] = [await invite(), await invite()];
  const firstBusiness = await onboard(firstInvitation.invitationToken, withIdempotencyKey("onboard"));
  expect(firstBusiness.apiKey).toBeDefined();
  expect(await onboard(firstInvitation.invitationToken, withIdempotencyKey("onboard"))).toEqual({
    ...firstBusiness,
    apiKey: undefined,
  });
  const secondBusiness = await onboard(secondInvitation.invitationToken, withIdempotencyKey("onboard"));
  expect(secondBusiness.id).not.toBe(firstBusiness.id);
  expect(secondBusiness.apiKey).toBeDefined();
});

test("createInvitation, listInvitations and revokeInvitation reject a business, and onboardBusiness and resolveInvitation accept only the platform", async () => {
  const businessOptions = { caller: aBusinessCaller() };
  for (const call of [
    () => invite({}, businessOptions),
    () => identity.invitations.listInvitations({ limit: 1 }, businessOptions),
    () => identity.invitations.revokeInvitation({ id: uuidv7() }, businessOptions),
  ]) {
    await expect(call()).rejects.toMatchObject({ code: "admin_required" });
  }
  for (const call of [
    () => onboard("inv_x", businessOptions),
    () => identity.invitations.resolveInvitation({ tokenHash: tokenHashOf("inv_x") }, asAdmin),
  ]) {
    await expect(call()).rejects.toMatchObject({ code: "platform_required" });
  }
});
