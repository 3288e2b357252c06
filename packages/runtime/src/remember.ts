/**
 * Puts an entry at the young end of a map, so that its memory is bounded: where there would be more
 * than `max`, the oldest is forgotten.
 */
export function remember<K, V>(known: Map<K, V>, key: K, value: V, max: number): void {
  known.delete(key);
  if (known.size >= max) known.delete(known.keys().next().value as K);
  known.set(key, value);
}
