/** Serializes the work on each key. Work on different keys runs in parallel. */
export class Locks<T> {
  readonly #last = new Map<T, Promise<unknown>>();

  async with<R>(key: T, work: () => Promise<R>): Promise<R> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const current = before.catch(() => {}).then(work);
    this.#last.set(key, current);
    return await current;
  }
}
