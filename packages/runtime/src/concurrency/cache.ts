/**
 * Returns a function that calls `read` at most once in `ms` milliseconds. Further calls in this
 * time get the same result.
 */
export function atMostEvery<T>(ms: number, read: () => Promise<T>): () => Promise<T> {
  let last: { readonly atMs: number; readonly result: Promise<T> } | undefined;
  return () => {
    const now = performance.now();
    if (!last || now - last.atMs >= ms) last = { atMs: now, result: read() };
    return last.result;
  };
}

/**
 * Returns a function that calls `read` at most once in `ms` milliseconds for each key. Further
 * calls for the key get the same result, also while the read is still in progress. A failed read is
 * not reused. Keeps the results of the newest `keysMax` keys.
 */
export function atMostEveryForKey<T>(ms: number, keysMax: number): (key: string, read: () => Promise<T>) => Promise<T> {
  const lastOf = new Map<string, { readonly atMs: number; readonly result: Promise<T> }>();
  return (key, read) => {
    const now = performance.now();
    const last = lastOf.get(key);
    if (last && now - last.atMs < ms) return last.result;
    const added = { atMs: now, result: read() };
    setBounded(lastOf, key, added, keysMax);
    added.result.catch(() => lastOf.get(key) === added && lastOf.delete(key));
    return added.result;
  };
}

/** Sets an entry as the newest of a map. When the map has `max` entries, deletes the oldest. */
export function setBounded<K, V>(map: Map<K, V>, key: K, value: V, max: number): void {
  map.delete(key);
  if (map.size >= max) map.delete(map.keys().next().value as K);
  map.set(key, value);
}
