const shownMax = 20;
const textMax = 600;

/** The violations that a run found, and the counters of its work, injected faults and checks. */
export class Report {
  readonly #counts = new Map<string, number>();
  readonly violations: string[] = [];

  /** Counts work or an injected fault, such as "refunds requested" or "replicas killed (-9)". */
  count(name: string, by = 1): void {
    this.#counts.set(name, this.countOf(name) + by);
  }

  countOf(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** Records a broken promise, with the details that are needed to find the cause. */
  violation(text: string): void {
    this.violations.push(text);
  }

  /** Counts a check under the name "checked: <claim>". Records a violation if `holds` is false. */
  check(claim: string, holds: boolean, details: () => string): void {
    this.count(`checked: ${claim}`);
    if (!holds) this.violation(`${claim}: ${details()}`);
  }

  /** Returns the counters and violations as text for the terminal. */
  table(): string {
    const rows = [...this.#counts].map(([name, count]) => [name, String(count)] as const);
    const width = Math.max(0, ...rows.map(([name]) => name.length));
    const lines = rows.map(([name, count]) => `  ${name.padEnd(width)}  ${count.padStart(9)}`);
    // Shows only the first violations, because a single fault often causes a thousand.
    const shown = this.violations.slice(0, shownMax).map((text) => text.slice(0, textMax));
    const end =
      this.violations.length === 0
        ? "All checks passed."
        : `${this.violations.length} violations (the first ${shown.length} are shown):\n${shown.map((text) => `  ✗ ${text}`).join("\n")}`;
    return [...lines, end].join("\n");
  }
}
