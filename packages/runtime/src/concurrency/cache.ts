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

/** Sets an entry as the newest of a map. When the map has `max` entries, deletes the oldest. */
export function setBounded<K, V>(map: Map<K, V>, key: K, value: V, max: number): void {
  map.delete(key);
  if (map.size >= max) map.delete(map.keys().next().value as K);
  map.set(key, value);
}
