import { Invitation, InvitationCreation, renderInvitation } from "@amana/public-api";
import { Type } from "typebox";
import { nameText, timestamp } from "../form/fields.ts";
import type { App, Gateway } from "../gateway.ts";
import { act, create, list } from "../operations.ts";

const invitation = { tags: ["Invitations"], render: renderInvitation };

export async function invitations(app: App, { rpc: { invitations: rpc } }: Gateway): Promise<void> {
  create(app, "", {
    ...invitation,
    rpc: rpc.createInvitation,
    summary: "Invite a business to register itself",
    description:
      "The answer carries the plaintext `invitation_token`, once. With it one business registers itself, once " +
      "(`POST /api/v1/onboarding/businesses`), and then waits for approval. Nobody registers without one.",
    body: {
      name: nameText({ description: "Whom it is for.", examples: ["Librairie El Kitab"] }),
      // No example, because a fixed time would be rejected once it has passed.
      expires_at: Type.Optional(
        timestamp({ description: "At most 30 days ahead; 7 days when it is left out.", examples: undefined }),
      ),
    },
    answer: InvitationCreation,
    // An invitation has no address of its own to read it at; this one lists it.
    location: () => "/api/v1/admin/invitations",
  });

  list(app, "", {
    ...invitation,
    rpc: rpc.listInvitations,
    summary: "List invitations, newest first",
    answer: Invitation,
  });

  act(app, "/:id/revoke", {
    ...invitation,
    rpc: rpc.revokeInvitation,
    summary: "Revoke an invitation",
    description: "Revoking again changes nothing; a business that was registered with it stays.",
    answer: Invitation,
  });
}
