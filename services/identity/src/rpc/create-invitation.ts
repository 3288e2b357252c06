import { generateApiKey, hashApiKey, prefixOf } from "@amana/api-keys";
import { InvitationSchema } from "@amana/contracts/identity/v1/invitation_pb";
import type { InvitationService } from "@amana/contracts/identity/v1/invitation_service_pb";
import { databaseTime } from "@amana/database";
import { once } from "@amana/idempotency";
import { type Implementation, requireAdmin } from "@amana/rpc";
import { dateOf, uuidv7 } from "@amana/runtime";
import { auditChange } from "../audit/audit-event.ts";
import type { Context } from "../context.ts";
import { invitationExpiryInvalid } from "../invitation/invitation.errors.ts";
import { toInvitationMessage } from "../invitation/invitation.message.ts";
import { Invitation } from "../invitation/invitation.ts";

const dayMs = 24 * 60 * 60 * 1_000;
const daysDefault = 7;
const daysMax = 30;

export const createInvitation =
  ({ orm, clock }: Context): Implementation<typeof InvitationService.method.createInvitation> =>
  async ({ name, expiresAtMs }, call) => {
    requireAdmin(call.caller);
    return await once(
      orm,
      call,
      InvitationSchema,
      async (em, claimedAt) => {
        // Uses the database's clock, which also determines whether the invitation has expired.
        const now = claimedAt ?? (await databaseTime(em));
        const expiresAt = dateOf(expiresAtMs) ?? new Date(now.getTime() + daysDefault * dayMs);
        const aheadMs = expiresAt.getTime() - now.getTime();
        if (!(aheadMs > 0 && aheadMs <= daysMax * dayMs)) throw invitationExpiryInvalid(daysMax);
        const token = generateApiKey("inv_");
        const fields = { id: uuidv7(), name, prefix: prefixOf(token), hash: hashApiKey(token), createdAt: now, expiresAt };
        const invitation = em.create(Invitation, fields);
        em.persist(invitation);
        auditChange(em, clock.now(), call, "invitation.created", invitation);
        return toInvitationMessage(invitation, token);
      },
      ({ invitationToken: _secret, ...message }) => message,
    );
  };
