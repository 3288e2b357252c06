/**
 * The wait of a loop that looks for work: it ends early when somebody wakes the loop, also while it
 * was looking. Call `begin` before looking and `wait` when nothing was found.
 */
export class Pause {
  #woken = false;
  #end = () => {};

  begin(): void {
    this.#woken = false;
  }

  wake(): void {
    this.#woken = true;
    this.#end();
  }

  /** Answers whether it was woken. */
  async wait(ms: number): Promise<boolean> {
    if (this.#woken || ms <= 0) return this.#woken;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.ceil(ms));
      this.#end = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    return this.#woken;
  }
}
