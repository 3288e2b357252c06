/** Prints a new operator key, for the setting BOOTSTRAP_ADMIN_KEY of a new deployment. */
import { generateApiKey } from "./key-text.ts";

process.stdout.write(`${generateApiKey("ak_")}\n`);
