import { cells } from "./cells.ts";

/** How often each cell was planned and met. */
export class Coverage {
  readonly #met = new Map<string, number>();
  readonly #missed = new Map<string, number>();

  add({ met, missed }: { readonly met: readonly string[]; readonly missed: readonly string[] }): void {
    for (const name of met) this.#met.set(name, this.met(name) + 1);
    for (const name of missed) this.#missed.set(name, (this.#missed.get(name) ?? 0) + 1);
  }

  met(name: string): number {
    return this.#met.get(name) ?? 0;
  }

  /** Cells that no schedule came to. */
  empty(): string[] {
    return cells.map(({ name }) => name).filter((name) => this.met(name) === 0);
  }

  /** A line for each kind of fault: how often each place was met, of how often it was tried. */
  table(): string {
    const tried = (name: string) => this.met(name) + (this.#missed.get(name) ?? 0);
    const played = cells.map(({ name }) => name).filter((name) => tried(name) > 0);
    const groups = Map.groupBy(played, (name) => name.split(": ")[0] as string);
    const lines = [...groups].map(([group, names]) => {
      const places = names.map((name) => `${name.slice(group.length + 2)} ${this.met(name)}/${tried(name)}`.trim());
      return `  ${group}: ${places.join(", ")}`;
    });
    return `met/tried:\n${lines.join("\n")}`;
  }
}
