type Name<E> = Exclude<Extract<keyof E, string>, "UNSPECIFIED">;

/**
 * The name of a proto enum's value, "PAID", as services store it; `enumeration` is the generated object. Undefined for
 * unspecified, which is how a request leaves something out; "", which nothing is called, for a number without a name.
 */
export function enumName<E extends Record<string, string | number>>(enumeration: E, value: number): Name<E> | undefined {
  if (value === 0) return undefined;
  return (Object.entries(enumeration).find(([, number]) => number === value)?.[0] ?? "") as Name<E>;
}
