import { Invitation, InvitationCreation, renderInvitation } from "@amana/public-api";
import { Type } from "typebox";
import { nameText, timestamp } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { addActionRoute, addCreateRoute, addListRoute } from "../operations.ts";

const invitation = { tag: "Operators", render: renderInvitation } as const;

export async function invitations(app: App, { rpc: { invitations: rpc } }: Gateway): Promise<void> {
  addCreateRoute(app, "", {
    ...invitation,
    rpc: rpc.createInvitation,
    summary: "Create an invitation",
    description:
      "Creates an invitation with which one business registers itself (`POST /api/v1/onboarding/businesses`). The new " +
      "business is PENDING until an operator approves it. Only this response contains the plaintext `invitation_token`.",
    body: {
      name: nameText({ description: "Name of the invited business or person.", examples: ["Librairie El Kitab"] }),
      // No example, because a fixed time would be rejected once it has passed.
      expires_at: Type.Optional(
        timestamp({
          description: "Time at which the invitation expires, at most 30 days ahead; 7 days by default.",
          examples: undefined,
        }),
      ),
    },
    response: InvitationCreation,
    // An invitation has no URL of its own, so Location is the list that contains it.
    location: () => "/api/v1/admin/invitations",
  });

  addListRoute(app, "", {
    ...invitation,
    rpc: rpc.listInvitations,
    summary: "List invitations",
    description: "Returns all invitations without their tokens, newest first.",
    response: Invitation,
  });

  addActionRoute(app, "/:id/revoke", {
    ...invitation,
    rpc: rpc.revokeInvitation,
    summary: "Revoke an invitation",
    description:
      "Revokes an invitation, so that its token is rejected. A business that registered with it stays unchanged. A " +
      "repeated revocation changes nothing.",
    response: Invitation,
  });
}
