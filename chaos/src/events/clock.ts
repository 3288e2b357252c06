import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The wall clock of one process. The program can step it while the process runs. */
export class Clock {
  /** Environment variables of the process. */
  readonly env: Record<string, string>;
  readonly #file: string;

  constructor(dir: string, name: string) {
    this.#file = join(dir, `clock-of-${name}`);
    this.env = {
      NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, "shifted-clock.ts"))}`,
      CLOCK_OFFSET_FILE: this.#file,
    };
    this.set(0);
  }

  /** Sets the difference between this clock and the real time. */
  set(offsetMs: number): void {
    // The process may read the file at any moment. The rename is atomic, so that the process never
    // reads an incomplete file.
    writeFileSync(`${this.#file}.new`, String(offsetMs));
    renameSync(`${this.#file}.new`, this.#file);
  }
}
