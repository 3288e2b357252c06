import { isDatabaseUnavailable } from "@amana/database";

/**
 * Thrown by an effect for a message of a type that this version does not know. The message waits
 * for the version that does. It is never PARKED and does not pause the consumer.
 */
export class UnknownEventTypeError extends Error {
  constructor(type: string) {
    super(`${type} is not a type of event that this version knows`);
    this.name = "UnknownEventTypeError";
  }
}

/** Errors whose texts may repeat data: those about the data, and those that triggers word. */
const withValues = /^(22|23|P0)/;
const reasonMax = 1_000;

/** Why a message could not be handled, without the values of any row: for operators. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "something that is no error was thrown";
  const { code, table, column, constraint } = error as { [name in "code" | "table" | "column" | "constraint"]?: unknown };
  if (typeof code === "string" && withValues.test(code)) {
    const place = Object.entries({ table, column, constraint }).filter(([, name]) => name !== undefined);
    return `${error.name}: SQLSTATE ${[code, ...place.map(([what, name]) => `${what} ${name}`)].join(", ")}`;
  }
  // JSON.parse repeats what it was given.
  if (error instanceof SyntaxError) return error.name;
  const [line = ""] = error.message.split("\n");
  return `${error.name}: ${line}`.slice(0, reasonMax);
}

/** Limits on statements and locks: the database is there, and the message is to blame. */
const perStatement = /^(57014|55P03|40001|40P01|53200|25P03)$/;

/** Whether the database is away, so that nothing can be said of the message. */
export function isDatabaseAway(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (typeof code === "string" && perStatement.test(code)) return false;
  }
  return isDatabaseUnavailable(error);
}
