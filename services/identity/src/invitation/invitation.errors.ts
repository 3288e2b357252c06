import { conflict, invalid, notFound } from "@amana/rpc";

export const invitationNotFound = () => notFound("not_found", "There is no invitation with this id. Check the id.");

/** Error for an invitation that is used, revoked or expired. */
export const invitationUsed = () =>
  conflict(
    "invitation_used",
    "The invitation was used or revoked, or has expired. Request a new invitation from the operator who invited you.",
  );

export const invitationExpiryInvalid = (daysMax: number) =>
  invalid(
    "validation_failed",
    `expires_at must be in the future, at most ${daysMax} days ahead. Send another time, or omit it.`,
    { pointer: "/expires_at" },
  );
