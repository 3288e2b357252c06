import { join } from "node:path";
import { stopLeftoverKafka } from "./kafka/leftover-kafka.ts";
import { stopLeftoverServices } from "./leftover-services.ts";
import { stopLeftoverPostmaster } from "./postgres/leftover-postmaster.ts";

/**
 * Stops all processes that a killed run left on the data folder. The options of that run do not
 * matter. If that run has not ended, throws DevEnvError and stops no further process.
 */
export async function stopLeftovers(dir: string): Promise<void> {
  await stopLeftoverServices(dir);
  await stopLeftoverPostmaster(join(dir, "postgres"));
  await stopLeftoverKafka(join(dir, "kafka"));
}
