import { isDatabaseUnavailable } from "@amana/database";

/**
 * Thrown by an effect for an event type that this version does not support. The message waits for a
 * version that supports the type. Such a message is never PARKED and does not pause the consumer.
 */
export class UnknownEventTypeError extends Error {
  constructor(type: string) {
    super(`this version does not support this event type or value: ${type}`);
    this.name = "UnknownEventTypeError";
  }
}

/**
 * SQLSTATE classes whose error texts can contain values of rows: data errors, constraint violations
 * and errors of triggers.
 */
const containsValues = /^(22|23|P0)/;
const reasonMax = 1_000;

/** Returns the reason of a failure for operators, without values of rows. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "the thrown value is not an Error";
  const { code, table, column, constraint } = error as { [name in "code" | "table" | "column" | "constraint"]?: unknown };
  if (typeof code === "string" && containsValues.test(code)) {
    const names = Object.entries({ table, column, constraint }).filter(([, name]) => name !== undefined);
    return `${error.name}: SQLSTATE ${[code, ...names.map(([kind, name]) => `${kind} ${name}`)].join(", ")}`;
  }
  // The message of a JSON.parse error contains the parsed text.
  if (error instanceof SyntaxError) return error.name;
  const [line = ""] = error.message.split("\n");
  return `${error.name}: ${line}`.slice(0, reasonMax);
}

/**
 * SQLSTATEs of timeouts, deadlocks and memory limits. They are attributed to the message and not to
 * an outage.
 */
const perStatement = /^(57014|55P03|40001|40P01|53200|25P03)$/;

/** Returns true if the error results from a database outage and not from the message. */
export function isDatabaseOutage(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (typeof code === "string" && perStatement.test(code)) return false;
  }
  return isDatabaseUnavailable(error);
}
