import { isEventType } from "@amana/public-api";
import { unknownEventType } from "./webhook-endpoint.errors.ts";

/** The event types an endpoint asks for, each once; refuses types that do not exist. */
export function eventFilter(types: readonly string[]): string[] {
  for (const type of types) if (!isEventType(type)) throw unknownEventType(type);
  return [...new Set(types)];
}
