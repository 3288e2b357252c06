/**
 * What a body says of optional fields: those with a value, and the names of those that are to have none any more, sent as
 * null or as an empty text. The form lets either through only where it clears.
 */
export function namedAndCleared<T extends Record<string, unknown>>(body: T) {
  const isCleared = (value: unknown) => value === null || value === "";
  const entries = Object.entries(body);
  const named = Object.fromEntries(entries.filter(([, value]) => !isCleared(value)));
  return {
    named: named as { [K in keyof T]: Exclude<T[K], null> | undefined },
    cleared: entries.flatMap(([name, value]) => (isCleared(value) ? [name] : [])),
  };
}
