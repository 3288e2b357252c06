import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** A wall clock that a process is given, and that can be stepped while it runs. */
export class Clock {
  /** Settings of the process. */
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

  /** So far it is from the real time from now on. */
  set(offsetMs: number): void {
    // A process may read at any moment.
    writeFileSync(`${this.#file}.new`, String(offsetMs));
    renameSync(`${this.#file}.new`, this.#file);
  }
}
