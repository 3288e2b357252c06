import { enumName } from "@amana/contracts/enum-names";
import { UnknownEventTypeError } from "@amana/messaging";

/**
 * Throws UnknownEventTypeError for an enum value that only a newer version supports, so that the
 * message waits for that version. The body of an event is rendered only once, and a body that this
 * version renders would never contain the value.
 */
export function requireSupported(enumeration: Record<string, number>, value: number | undefined, label: string): void {
  const name: string | undefined = enumName(enumeration, value ?? 0);
  if (name === "") throw new UnknownEventTypeError(`${label} ${value}`);
}
