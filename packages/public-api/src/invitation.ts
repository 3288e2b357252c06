import { InvitationSchema } from "@amana/contracts/identity/v1/invitation_pb";
import { Type } from "typebox";
import { renderer } from "./renderer.ts";

const InvitationJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  name: Type.String({ examples: ["Librairie El Kitab"] }),
  invitation_token: Type.Optional(Type.String({ description: "The plaintext token, only in the answer that issues it." })),
  token_prefix: Type.String({ examples: ["inv_A1b2C3d4E5f6"] }),
  created_at: Type.String({ format: "date-time" }),
  expires_at: Type.String({ format: "date-time" }),
  used_at: Type.Optional(Type.String({ format: "date-time" })),
  business_id: Type.Optional(Type.String({ format: "uuid", description: "The business that was registered with it." })),
  revoked_at: Type.Optional(Type.String({ format: "date-time" })),
});

/** An invitation, as operators see it. */
export const Invitation = Type.Omit(InvitationJson, ["invitation_token"]);
export const InvitationCreation = Type.Omit(InvitationJson, ["used_at", "business_id", "revoked_at"]);

/** An invitation with every public field; the schema of each answer chooses among them. */
export const renderInvitation = renderer(InvitationSchema, InvitationJson, { token_prefix: "prefix" });
