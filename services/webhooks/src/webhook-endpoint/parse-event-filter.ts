import { isEventType } from "@amana/public-api";
import { unknownEventType } from "./webhook-endpoint.errors.ts";

/** Returns the event types without duplicates. Throws for a type that does not exist. */
export function parseEventFilter(types: readonly string[]): string[] {
  for (const type of types) if (!isEventType(type)) throw unknownEventType(type);
  return [...new Set(types)];
}
