/** Asks at most once in `ms` milliseconds; whoever comes in between gets the same answer. */
export function atMostEvery<T>(ms: number, ask: () => Promise<T>): () => Promise<T> {
  let last: { readonly atMs: number; readonly answer: Promise<T> } | undefined;
  return () => {
    const now = performance.now();
    if (!last || now - last.atMs >= ms) last = { atMs: now, answer: ask() };
    return last.answer;
  };
}
