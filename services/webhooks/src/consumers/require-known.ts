import { enumName } from "@amana/contracts/enum-names";
import { UnknownEventTypeError } from "@amana/messaging";

/**
 * Throws UnknownEventTypeError for a value that only a newer version knows, so that the message
 * waits for that version. The stored body, which is rendered once, would lack the value for good.
 */
export function requireKnown(enumeration: Record<string, number>, value: number | undefined, what: string): void {
  const name: string | undefined = enumName(enumeration, value ?? 0);
  if (name === "") throw new UnknownEventTypeError(`${what} ${value}`);
}
