import type { Reporter, TestModule } from "vitest/node";

/** Says how far the run is after each file, and closes it with one plain line that any tool can read. */
export default class ClosingLine implements Reporter {
  private files = 0;
  private filesTotal = 0;
  private readonly counts = { passed: 0, failed: 0, skipped: 0 };

  onTestRunStart(specifications: readonly unknown[]): void {
    this.filesTotal = specifications.length;
  }

  onTestModuleEnd(module: TestModule): void {
    this.files++;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "passed" || state === "failed" || state === "skipped") this.counts[state]++;
    }
    // A file that cannot even be loaded has no tests, and must not pass unseen.
    this.counts.failed += module.errors().length;
    process.stdout.write(`   file ${this.files} of ${this.filesTotal}\n`);
  }

  onTestRunEnd(_modules: unknown, unhandledErrors: readonly unknown[]): void {
    const { passed, failed, skipped } = this.counts;
    const skippedText = skipped > 0 ? `, ${skipped} skipped` : "";
    process.on("exit", () => process.stdout.write(`${passed} passed, ${failed + unhandledErrors.length} failed${skippedText}\n`));
  }
}
