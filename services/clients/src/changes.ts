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
