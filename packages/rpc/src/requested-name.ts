import { type EnumName, enumName } from "@amana/contracts/enum-names";
import { unavailable } from "./domain-error.ts";

/**
 * Returns the name of an enum value in a request, or undefined for UNSPECIFIED, the value of an
 * absent field. Throws a DomainError `service_unavailable` for a value that only a newer version of
 * the service knows: without the value, the request would have another effect. A newer replica, or
 * this one after its update, can execute the request.
 */
export function requestedName<E extends Record<string, number>>(enumeration: E, value: number): EnumName<E> | undefined {
  const name = enumName(enumeration, value);
  if (name === "") {
    throw unavailable(
      "service_unavailable",
      "The service is being updated, and this replica does not support a value of the request yet. Try again in a moment.",
    );
  }
  return name;
}
