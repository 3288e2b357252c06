import { InvitationSchema } from "@amana/contracts/identity/v1/invitation_pb";
import { Type } from "typebox";
import { createRenderer } from "./renderer.ts";

const InvitationJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  name: Type.String({ examples: ["Librairie El Kitab"] }),
  invitation_token: Type.Optional(
    Type.String({ description: "Plaintext of the token; only in the response that creates the invitation." }),
  ),
  token_prefix: Type.String({ description: "First 16 characters of the token.", examples: ["inv_A1b2C3d4E5f6"] }),
  created_at: Type.String({ format: "date-time" }),
  expires_at: Type.String({ format: "date-time" }),
  used_at: Type.Optional(Type.String({ format: "date-time" })),
  business_id: Type.Optional(Type.String({ format: "uuid", description: "Business that registered with the invitation." })),
  revoked_at: Type.Optional(Type.String({ format: "date-time" })),
});

/** Schema of an invitation for operators. */
export const Invitation = Type.Omit(InvitationJson, ["invitation_token"]);
export const InvitationCreation = Type.Omit(InvitationJson, ["used_at", "business_id", "revoked_at"]);

/**
 * Renders an invitation with all public fields. The response schema of each operation drops the
 * fields that it does not list.
 */
export const renderInvitation = createRenderer(InvitationSchema, InvitationJson, { token_prefix: "prefix" });
