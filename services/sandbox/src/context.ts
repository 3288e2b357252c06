import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import type { Database } from "./database.ts";
import type { Faults } from "./faults.ts";

/** What both providers work with. */
export interface Context {
  readonly config: Config;
  readonly database: Database;
  readonly clock: Clock;
  readonly faults: Faults;
  /** What the addresses of hosted pages begin with, known only once the process listens. */
  publicUrl(): string;
}
