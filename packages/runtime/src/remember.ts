/** Puts an entry at a map's young end; where there would be more than `max`, the oldest goes. */
export function remember<K, V>(known: Map<K, V>, key: K, value: V, max: number): void {
  known.delete(key);
  if (known.size >= max) known.delete(known.keys().next().value as K);
  known.set(key, value);
}
