import { join } from "node:path";
import { stopLeftoverKafka } from "./kafka/leftover-kafka.ts";
import { stopLeftoverServices } from "./leftover-services.ts";
import { stopLeftoverPostmaster } from "./postgres/leftover-postmaster.ts";

/**
 * Stops all processes of a killed run on the data folder, whatever options that run had. Throws
 * DevEnvError, and stops no further process, if that run still runs.
 */
export async function stopLeftovers(dir: string): Promise<void> {
  await stopLeftoverServices(dir);
  await stopLeftoverPostmaster(join(dir, "postgres"));
  await stopLeftoverKafka(join(dir, "kafka"));
}
