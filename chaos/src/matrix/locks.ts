/**
 * Runs operations with the same key in sequence. Operations with different keys run in parallel.
 */
export class Locks<T> {
  readonly #last = new Map<T, Promise<unknown>>();

  async with<R>(key: T, work: () => Promise<R>): Promise<R> {
    const previous = this.#last.get(key) ?? Promise.resolve();
    const current = previous.catch(() => {}).then(work);
    this.#last.set(key, current);
    return await current;
  }
}
