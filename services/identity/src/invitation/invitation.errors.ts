import { conflict, invalid, notFound } from "@amana/rpc";

export const invitationNotFound = () => notFound("not_found", "There is no such invitation. Check the id.");

/** Also for one that ended after the gateway had looked at it. */
export const invitationUsed = () =>
  conflict("invitation_used", "The invitation was used before, or has just ended. Ask whoever invited you for another one.");

export const invitationEndInvalid = (daysMax: number) =>
  invalid("validation_failed", `expires_at is in the future, at most ${daysMax} days ahead.`, { pointer: "/expires_at" });
