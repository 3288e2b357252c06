import type { Cell } from "./cells.ts";

/** Counts, for each cell, how often it was in a schedule and how often it was met. */
export class Coverage {
  readonly #cells: readonly Cell[];
  readonly #met = new Map<string, number>();
  readonly #missed = new Map<string, number>();

  constructor(cells: readonly Cell[]) {
    this.#cells = cells;
  }

  add({ met, missed }: { readonly met: readonly string[]; readonly missed: readonly string[] }): void {
    for (const name of met) this.#met.set(name, this.countMet(name) + 1);
    for (const name of missed) this.#missed.set(name, (this.#missed.get(name) ?? 0) + 1);
  }

  countMet(name: string): number {
    return this.#met.get(name) ?? 0;
  }

  /** Returns the cells that no schedule has met. */
  findUnmet(): string[] {
    return this.#cells.map(({ name }) => name).filter((name) => this.countMet(name) === 0);
  }

  /**
   * Returns a line for each kind of fault. A line has the numbers of met and planned faults for
   * each place.
   */
  table(): string {
    const planned = (name: string) => this.countMet(name) + (this.#missed.get(name) ?? 0);
    const played = this.#cells.map(({ name }) => name).filter((name) => planned(name) > 0);
    const groups = Map.groupBy(played, (name) => name.split(": ")[0] as string);
    const lines = [...groups].map(([group, names]) => {
      const places = names.map((name) => `${name.slice(group.length + 2)} ${this.countMet(name)}/${planned(name)}`.trim());
      return `  ${group}: ${places.join(", ")}`;
    });
    return `met/planned:\n${lines.join("\n")}`;
  }
}
