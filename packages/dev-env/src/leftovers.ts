import { join } from "node:path";
import { stopLeftoverKafka } from "./kafka/leftover-kafka.ts";
import { stopLeftoverServices } from "./leftover-services.ts";
import { stopLeftoverPostmaster } from "./postgres/leftover-postmaster.ts";

/**
 * Stops every process that a killed run left behind on the data folder, whatever its options were.
 * Throws DevEnvError, and stops no further process, when that run still works.
 */
export async function stopLeftovers(dir: string): Promise<void> {
  await stopLeftoverServices(dir);
  await stopLeftoverPostmaster(join(dir, "postgres"));
  await stopLeftoverKafka(join(dir, "kafka"));
}
