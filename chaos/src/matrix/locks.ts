/** Work with one thing goes one after the other, with different things side by side. */
export class Locks<T> {
  readonly #last = new Map<T, Promise<unknown>>();

  async with<R>(thing: T, work: () => Promise<R>): Promise<R> {
    const before = this.#last.get(thing) ?? Promise.resolve();
    const mine = before.catch(() => {}).then(work);
    this.#last.set(thing, mine);
    return await mine;
  }
}
