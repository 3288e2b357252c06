import { conflict, notFound } from "@amana/rpc";

export const deadLetterNotFound = () => notFound("not_found", "There is no such dead letter.");

export const deadLetterOver = (status: "DELIVERED" | "DROPPED") =>
  conflict("dead_letter_over", `The dead letter is ${status}, which is the end of it.`);

export const deadLetterForged = () =>
  conflict(
    "dead_letter_forged",
    "The message was rejected, because its MAC is not good or its event is more than 39 days old. If it is genuine, publish it again (amana outbox republish). Drop the dead letter.",
  );

export const deadLetterFailed = (reason: string) =>
  conflict("dead_letter_failed", `The message failed again and nothing changed: ${reason} Fix the cause and retry, or drop it.`);
