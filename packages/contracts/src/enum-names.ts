/** The names of a generated enum's values, as services store them: "PENDING" | "PAID" | … */
export type EnumName<E> = Exclude<Extract<keyof E, string>, "UNSPECIFIED">;

/** All names of a generated enum, in the order of the proto file. */
export function enumNames<E extends object>(enumeration: E): EnumName<E>[] {
  return Object.keys(enumeration).filter((name): name is EnumName<E> => name !== "UNSPECIFIED");
}

/** The same as lists of lower-case words show them. */
export const lowerCaseNames = <E extends object>(enumeration: E) =>
  enumNames(enumeration).map((name) => name.toLowerCase() as Lowercase<typeof name>);

/**
 * The name of an enum's value. Undefined for UNSPECIFIED, which is how a request leaves something
 * out; "", which nothing is called, for a value that only a newer version knows.
 */
export function enumName<E extends Record<string, number>>(enumeration: E, value: number): EnumName<E> | undefined {
  if (value === 0) return undefined;
  return (Object.entries(enumeration).find(([, number]) => number === value)?.[0] ?? "") as EnumName<E>;
}

/** "PAYMENT_REFUNDED" → "PaymentRefunded": what an event is called in its headers. */
export const pascalCase = (name: string): string =>
  name.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase());
