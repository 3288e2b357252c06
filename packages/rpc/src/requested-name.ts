import { type EnumName, enumName } from "@amana/contracts/enum-names";
import { unavailable } from "./domain-error.ts";

/**
 * Returns the name of an enum value in a request; undefined for UNSPECIFIED, which leaves it out.
 * Throws a DomainError `service_unavailable` for a value that only a newer version of the service
 * knows: without it, the request would have another effect than the caller asked for. Another
 * replica, or this one after the update, can carry it out.
 */
export function requestedName<E extends Record<string, number>>(enumeration: E, value: number): EnumName<E> | undefined {
  const name = enumName(enumeration, value);
  if (name === "") {
    throw unavailable(
      "service_unavailable",
      "A part of the service is being updated and does not know a value of the request yet. Try again in a moment.",
    );
  }
  return name;
}
