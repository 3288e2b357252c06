import type { Replicated } from "../rolling/replicas.ts";

/** Processes that ended by themselves, of which faults explain some. */
export class Crashes {
  readonly #texts = new Map<Replicated, string[]>();
  readonly #excused = new Map<Replicated, number>();

  add(name: Replicated, text: string): void {
    this.#texts.set(name, [...(this.#texts.get(name) ?? []), text]);
  }

  /** A fault let a process of the service end by itself. */
  excuse(name: Replicated): void {
    this.#excused.set(name, (this.#excused.get(name) ?? 0) + 1);
  }

  /** What nothing explains, since the last call. */
  take(): string[] {
    const unexplained = [...this.#texts].flatMap(([name, texts]) => texts.slice(this.#excused.get(name) ?? 0));
    this.#texts.clear();
    this.#excused.clear();
    return unexplained;
  }
}
