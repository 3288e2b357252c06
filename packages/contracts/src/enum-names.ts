/** Names of a generated enum's values, as services store them: "PENDING" | "PAID" | … */
export type EnumName<E> = Exclude<Extract<keyof E, string>, "UNSPECIFIED">;

/** Returns all names of a generated enum except UNSPECIFIED, in the order of the proto file. */
export function enumNames<E extends object>(enumeration: E): EnumName<E>[] {
  return Object.keys(enumeration).filter((name): name is EnumName<E> => name !== "UNSPECIFIED");
}

/** Returns all names of a generated enum in lower case. */
export const lowerCaseNames = <E extends object>(enumeration: E) =>
  enumNames(enumeration).map((name) => name.toLowerCase() as Lowercase<typeof name>);

/**
 * Returns the name of an enum value. Returns undefined for UNSPECIFIED, the value of an omitted
 * field. Returns "" for a value that only another version has.
 */
export function enumName<E extends Record<string, number>>(enumeration: E, value: number): EnumName<E> | undefined {
  if (value === 0) return undefined;
  return (Object.entries(enumeration).find(([, number]) => number === value)?.[0] ?? "") as EnumName<E>;
}

/** Converts "PAYMENT_REFUNDED" to "PaymentRefunded", the form of event names in headers. */
export const pascalCase = (name: string): string =>
  name.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase());
