import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import type { Database } from "./database.ts";
import type { Faults } from "./faults.ts";

/** Dependencies of the card processor and the verification provider. */
export interface Context {
  readonly config: Config;
  readonly database: Database;
  readonly clock: Clock;
  readonly faults: Faults;
  /** Returns the base URL of hosted pages. Must not be called before the server listens. */
  publicUrl(): string;
}
