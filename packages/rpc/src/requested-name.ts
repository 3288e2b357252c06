import { type EnumName, enumName } from "@amana/contracts/enum-names";
import type { Message } from "@bufbuild/protobuf";
import { unavailable } from "./domain-error.ts";

/**
 * Returns the name of an enum value in a request, or undefined for UNSPECIFIED, the value of an
 * absent field. Throws a DomainError `service_unavailable` for a value that this version of the
 * service does not have: without the value, the request would have another effect. A newer replica,
 * or this replica after its update, can execute the request.
 */
export function requestedName<E extends Record<string, number>>(enumeration: E, value: number): EnumName<E> | undefined {
  const name = enumName(enumeration, value);
  if (name === "") throw notSupportedYet("value");
  return name;
}

/**
 * Throws a DomainError `service_unavailable` for a request with a field that this version of the
 * service does not have. A list that ignores an unknown field would ignore a new filter. Checks
 * only the fields of the request itself, not the fields of nested messages.
 */
export function rejectUnknownFields({ $unknown }: Message): void {
  if ($unknown) throw notSupportedYet("field");
}

const notSupportedYet = (what: "value" | "field") =>
  unavailable(
    "service_unavailable",
    `The service is being updated, and this replica does not support a ${what} of the request yet. Try again in a moment.`,
  );
