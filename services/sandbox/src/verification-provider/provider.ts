import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Faults } from "../faults.ts";
import type { Application } from "./application.ts";
import type { Applications } from "./applications.ts";
import type { Callbacks } from "./callbacks.ts";

/** What the calls of the provider work with. */
export interface Provider {
  readonly config: Config;
  readonly clock: Clock;
  readonly faults: Faults;
  readonly applications: Applications;
  readonly callbacks: Callbacks;
  linkUrl(application: Application): string;
}
