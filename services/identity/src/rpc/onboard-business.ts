import { BusinessSchema } from "@amana/contracts/identity/v1/business_pb";
import type { InvitationService } from "@amana/contracts/identity/v1/invitation_service_pb";
import { databaseTime } from "@amana/database";
import { once } from "@amana/idempotency";
import { type Call, type Implementation, requirePlatform } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { LockMode } from "@mikro-orm/postgresql";
import { defaultKeyName, lockKeyRing } from "../api-key/key-ring.ts";
import { auditChange } from "../audit/audit-event.ts";
import { toBusinessMessage } from "../business/business.message.ts";
import { Business } from "../business/business.ts";
import type { Context } from "../context.ts";
import { invitationUsed } from "../invitation/invitation.errors.ts";
import { Invitation } from "../invitation/invitation.ts";

export const resolveInvitation =
  ({ orm }: Context): Implementation<typeof InvitationService.method.resolveInvitation> =>
  async ({ tokenHash }, { caller }) => {
    requirePlatform(caller);
    const em = orm.em.fork();
    const invitation = await em.findOne(Invitation, { hash: Buffer.from(tokenHash) });
    return { isGood: invitation?.isUsable(await databaseTime(em)) ?? false };
  };

export const onboardBusiness =
  ({ orm, clock, keyMode }: Context): Implementation<typeof InvitationService.method.onboardBusiness> =>
  async ({ tokenHash, name, contactEmail }, call) => {
    requirePlatform(call.caller);
    const hash = Buffer.from(tokenHash);
    return await once(
      orm,
      restrictToInvitation(call, hash),
      BusinessSchema,
      async (em) => {
        const invitation = await em.findOne(Invitation, { hash }, { lockMode: LockMode.PESSIMISTIC_WRITE });
        if (!invitation?.isUsable(await databaseTime(em))) throw invitationUsed();
        const now = clock.now();
        const id = uuidv7();
        invitation.use(id, now);
        const times = { createdAt: now, updatedAt: now };
        const business = em.create(Business, { id, name, status: "PENDING", contactEmail, ...times });
        // Inserts the business now, because the database assigns `organizationId` and the row of
        // the key references the business.
        await em.persist(business).flush();
        const keyRing = await lockKeyRing(em, business, keyMode);
        const { apiKey, plaintext } = keyRing.add(defaultKeyName, now);

        const { requestId, address } = call;
        const by = { actor: invitation.prefix, actorKeyId: invitation.id, requestId, address };
        auditChange(em, now, call, "business.created", business, { by });
        auditChange(em, now, call, "api_key.created", apiKey, { by });
        return toBusinessMessage(business, { apiKeyPrefix: apiKey.prefix, apiKey: plaintext });
      },
      ({ apiKey: _secret, ...message }) => message,
    );
  };

/**
 * Restricts the Idempotency-Key to the invitation. Otherwise the holder of another invitation could
 * send the same Idempotency-Key and read the stored response.
 */
function restrictToInvitation(call: Call, hash: Buffer): Call {
  const { idempotencyKey } = call;
  if (!idempotencyKey) return call;
  return { ...call, idempotencyKey: { ...idempotencyKey, route: `${idempotencyKey.route} ${hash.toString("hex")}` } };
}
