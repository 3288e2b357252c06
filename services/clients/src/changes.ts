import { isDeepStrictEqual } from "node:util";

/** Whether any of the named fields would become different, as a reader sees it. */
export function differs<T extends object>(target: T, changes: Partial<T>): boolean {
  return Object.entries(changes).some(([name, value]) => !isDeepStrictEqual(target[name as keyof T] ?? null, value ?? null));
}

/** Sets the named fields and says whether any of them became different. */
export function takeOver<T extends object>(target: T, changes: Partial<T>): boolean {
  if (!differs(target, changes)) return false;
  Object.assign(target, changes);
  return true;
}

/**
 * The fields that a request names, without those it leaves out, and null for those it clears. `cleared` has their public
 * names, of which only those of `clearable` count: nothing else can be without a value.
 */
export function namedFields<T extends object>(
  given: { readonly [K in keyof T]?: T[K] | undefined },
  cleared: readonly string[],
  clearable: readonly (keyof T & string)[],
): Partial<T> {
  const names = cleared.map((name) => name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase()));
  return Object.fromEntries([
    ...Object.entries(given).filter(([, value]) => value !== undefined),
    ...clearable.filter((name) => names.includes(name)).map((name) => [name, null]),
  ]) as Partial<T>;
}
