import { conflict } from "@amana/rpc";

export const deliveryAttemptLimitReached = (attemptsPerDayMax: number) =>
  conflict(
    "delivery_attempt_limit_reached",
    `The webhook endpoints of this business had ${attemptsPerDayMax} or more delivery attempts in the last 24 hours, the limit for ` +
      "redeliveries, replays and tests. New events are still delivered. Try again later, or request a higher limit from support.",
  );
