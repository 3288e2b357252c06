/** Unix milliseconds as the public API writes timestamps: UTC, "Z", milliseconds. */
export function isoTimestamp(ms: bigint): string {
  return new Date(Number(ms)).toISOString();
}

/**
 * The public names of a proto enum, "PAYMENT_STATUS_PAID" → "PAID", by number. `enumeration` is the generated
 * object; its own keys carry the names without prefix already.
 */
export function enumNames<T extends object>(enumeration: T): ReadonlyMap<number, string> {
  return new Map(
    Object.entries(enumeration).flatMap(([name, value]) =>
      typeof value === "number" && value !== 0 ? [[value, name] as const] : [],
    ),
  );
}
