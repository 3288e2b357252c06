import { InvitationSchema } from "@amana/contracts/identity/v1/invitation_pb";
import { ListInvitationsRequestSchema } from "@amana/contracts/identity/v1/invitation_service_pb";
import { defineList, defineView, type RowOf } from "@amana/database";
import { Invitation } from "./invitation.ts";

const invitationView = defineView(Invitation, InvitationSchema);

/**
 * Returns the RPC message of an invitation. Only the response that issues the token may contain
 * `plaintext`.
 */
export const toInvitationMessage = (invitation: RowOf<typeof invitationView>, plaintext?: string) =>
  invitationView.toMessage(invitation, { invitationToken: plaintext });

export const invitationList = defineList(invitationView, ListInvitationsRequestSchema, {});
