import { conflict, notFound } from "@amana/rpc";

export const deadLetterNotFound = () => notFound("not_found", "There is no such dead letter.");

export const deadLetterOver = (status: "DELIVERED" | "DROPPED") =>
  conflict("dead_letter_over", `The dead letter is ${status}, which is the end of it.`);

export const deadLetterBehind = () =>
  conflict(
    "dead_letter_behind",
    "An earlier event of the same key was set aside too, and they keep their order. Retry or drop that one first.",
  );

export const deadLetterForged = () =>
  conflict(
    "dead_letter_forged",
    "The message's MAC is not good, so it has no effect. If this service lacked the key, add it to EVENT_MAC_KEYS, restart the service and retry; else drop it.",
  );

export const deadLetterTooOld = () =>
  conflict(
    "dead_letter_too_old",
    "The event is more than 39 days old. The inbox may have forgotten it, so a retry could take effect twice. Drop the dead letter.",
  );

export const deadLetterForgedBehind = () =>
  conflict(
    "dead_letter_behind",
    "The same event was set aside under a good MAC too. Retry or drop that letter, and drop this one.",
  );

export const deadLetterFailed = (reason: string) =>
  conflict("dead_letter_failed", `The message failed again and nothing changed: ${reason} Mend the cause and retry, or drop it.`);
