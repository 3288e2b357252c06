import { conflict, notFound } from "@amana/rpc";

export const deadLetterNotFound = () => notFound("not_found", "There is no dead-lettered message with this id. Check the id.");

export const deadLetterEnded = (status: "DELIVERED" | "DROPPED") =>
  conflict("dead_letter_over", `The dead-lettered message is already ${status}. This status is final.`);

export const deadLetterForged = () =>
  conflict(
    "dead_letter_forged",
    "The message was rejected, because its MAC is invalid or its event is more than 39 days old. Drop the dead-lettered message. If the event is authentic, publish it again (amana outbox republish).",
  );

export const deadLetterFailed = (reason: string) =>
  conflict(
    "dead_letter_failed",
    `The message failed again and had no effect: ${reason}. Fix the cause and retry, or drop the dead-lettered message.`,
  );
