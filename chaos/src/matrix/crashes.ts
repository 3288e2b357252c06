import type { ReplicatedService } from "../rolling/replicas.ts";

/** Exits of processes. Injected faults explain some of them. */
export class Crashes {
  readonly #texts = new Map<ReplicatedService, string[]>();
  readonly #explained = new Map<ReplicatedService, number>();

  add(name: ReplicatedService, text: string): void {
    this.#texts.set(name, [...(this.#texts.get(name) ?? []), text]);
  }

  /** Records that a fault caused one exit of the service. */
  explain(name: ReplicatedService): void {
    this.#explained.set(name, (this.#explained.get(name) ?? 0) + 1);
  }

  /** Returns the unexplained exits since the last call. */
  takeUnexplained(): string[] {
    const unexplained = [...this.#texts].flatMap(([name, texts]) => texts.slice(this.#explained.get(name) ?? 0));
    this.#texts.clear();
    this.#explained.clear();
    return unexplained;
  }
}
