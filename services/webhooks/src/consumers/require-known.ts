import { enumName } from "@amana/contracts/enum-names";
import { UnknownEventTypeError } from "@amana/messaging";

/**
 * Throws UnknownEventTypeError for a value that only a newer version knows. The body is rendered
 * once and stored: this version would leave the value out for good. The message waits instead.
 */
export function requireKnown(enumeration: Record<string, number>, value: number | undefined, what: string): void {
  const name: string | undefined = enumName(enumeration, value ?? 0);
  if (name === "") throw new UnknownEventTypeError(`${what} ${value}`);
}
