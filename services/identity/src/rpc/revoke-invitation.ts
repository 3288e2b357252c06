import { InvitationSchema } from "@amana/contracts/identity/v1/invitation_pb";
import type { InvitationService } from "@amana/contracts/identity/v1/invitation_service_pb";
import { allBusinesses, lockRow } from "@amana/database";
import { once } from "@amana/idempotency";
import { type Implementation, requireAdmin } from "@amana/rpc";
import { auditChange } from "../audit/audit-event.ts";
import type { Context } from "../context.ts";
import { invitationNotFound } from "../invitation/invitation.errors.ts";
import { toInvitationMessage } from "../invitation/invitation.message.ts";
import { Invitation } from "../invitation/invitation.ts";

export const revokeInvitation =
  ({ orm, clock }: Context): Implementation<typeof InvitationService.method.revokeInvitation> =>
  async ({ id }, call) => {
    requireAdmin(call.caller);
    return await once(orm, call, InvitationSchema, async (em) => {
      const invitation = await lockRow(em, Invitation, allBusinesses, id, invitationNotFound);
      if (!invitation.revokedAt) {
        const before = invitation.snapshot();
        const now = clock.now();
        invitation.revokedAt = now;
        auditChange(em, now, call, "invitation.revoked", invitation, { before });
      }
      return toInvitationMessage(invitation);
    });
  };
