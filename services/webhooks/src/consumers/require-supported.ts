import { enumName } from "@amana/contracts/enum-names";
import { UnknownEventTypeError } from "@amana/messaging";

/**
 * Throws UnknownEventTypeError for an enum value that only a newer version of this service
 * supports, so that the message waits until that version runs. An event's body is rendered only
 * once, so a body that this version renders would lack the value forever.
 */
export function requireSupported(enumeration: Record<string, number>, value: number | undefined, label: string): void {
  const name: string | undefined = enumName(enumeration, value ?? 0);
  if (name === "") throw new UnknownEventTypeError(`${label} ${value}`);
}
