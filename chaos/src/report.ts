const shownMax = 20;
const textMax = 600;

/** What a program tried, what it did to the system meanwhile, and what did not hold. */
export class Report {
  readonly #counts = new Map<string, number>();
  readonly violations: string[] = [];

  /** Counts something tried, or a fault injected: "refunds asked for", "payments killed". */
  count(what: string, by = 1): void {
    this.#counts.set(what, this.counted(what) + by);
  }

  counted(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  /** Something promised that did not hold, with what one needs to find out why. */
  violation(text: string): void {
    this.violations.push(text);
  }

  /** Counts the check; a false claim is a violation. */
  check(what: string, holds: boolean, details: () => string): void {
    this.count(`checked: ${what}`);
    if (!holds) this.violation(`${what}: ${details()}`);
  }

  table(): string {
    const rows = [...this.#counts].map(([what, count]) => [what, String(count)] as const);
    const width = Math.max(0, ...rows.map(([what]) => what.length));
    const lines = rows.map(([what, count]) => `  ${what.padEnd(width)}  ${count.padStart(9)}`);
    // One fault often shows a thousand times.
    const shown = this.violations.slice(0, shownMax).map((text) => text.slice(0, textMax));
    const end =
      this.violations.length === 0
        ? "Everything held."
        : `${this.violations.length} did not hold:\n${shown.map((text) => `  ✗ ${text}`).join("\n")}`;
    return [...lines, end].join("\n");
  }
}
