import type { TestError } from "vitest";
import type { Reporter, TestModule } from "vitest/node";

const slowestShown = 10;

/**
 * Returns the stack, which begins with the message, and the difference between the expected and the
 * actual value. Omits the stack frames of libraries.
 */
const describeError = ({ message, stack = message, diff = "" }: TestError) =>
  [...stack.split("\n").filter((line) => !/\/node_modules\/|new Promise/.test(line)), diff].join("\n");

/**
 * After each file, prints the progress and the errors of failed tests. Vitest prints these errors
 * only at the end of the run. At the end, prints the slowest files, the duration of the run and, as
 * the last line, the counts in a form that any tool can read.
 */
export default class ClosingLine implements Reporter {
  private readonly startedMs = performance.now();
  private files = 0;
  private filesTotal = 0;
  private readonly counts = { passed: 0, failed: 0, skipped: 0 };
  private readonly durations: { file: string; seconds: number }[] = [];

  onTestRunStart(specifications: readonly unknown[]): void {
    this.filesTotal = specifications.length;
  }

  onTestModuleEnd(module: TestModule): void {
    this.files++;
    for (const test of module.children.allTests()) {
      const { state, errors = [] } = test.result();
      if (state === "passed" || state === "failed" || state === "skipped") this.counts[state]++;
      for (const error of errors) process.stdout.write(`   ${test.fullName}\n${describeError(error)}\n`);
    }
    // A file that fails to load has no tests, but counts as a failure.
    this.counts.failed += module.errors().length;
    const { setupDuration, collectDuration, duration } = module.diagnostic();
    const seconds = (setupDuration + collectDuration + duration) / 1000;
    this.durations.push({ file: module.relativeModuleId, seconds });
    process.stdout.write(`   file ${this.files} of ${this.filesTotal}\n`);
  }

  onTestRunEnd(_modules: unknown, unhandledErrors: readonly unknown[]): void {
    const { passed, failed, skipped } = this.counts;
    const slowest = this.durations.toSorted((a, b) => b.seconds - a.seconds).slice(0, slowestShown);
    const lines = slowest.map(({ file, seconds }) => `   ${seconds.toFixed(1).padStart(6)} s  ${file}\n`);
    const skippedLine = skipped > 0 ? `Skipped tests: ${skipped}. A line above states each reason.\n` : "";
    const counts = `${passed} passed, ${failed + unhandledErrors.length} failed\n`;
    process.on("exit", () => {
      const seconds = Math.round((performance.now() - this.startedMs) / 1000);
      const duration = `The run took ${Math.floor(seconds / 60)} min ${seconds % 60} s\n`;
      process.stdout.write(`The slowest files:\n${lines.join("")}${duration}${skippedLine}${counts}`);
    });
  }
}
