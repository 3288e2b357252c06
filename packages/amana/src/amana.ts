/** The command `amana`. What it can do is one file for each noun in `commands/`. */
import { DomainError } from "@amana/rpc";
import { StartRefused } from "@amana/runtime";
import { Command, CommanderError } from "commander";
import { apiKeys } from "./commands/api-keys.ts";
import { backup } from "./commands/backup.ts";
import { deadLetters } from "./commands/dead-letters.ts";
import { migrateStatus } from "./commands/migrate.ts";
import { outbox } from "./commands/outbox.ts";
import { refunds } from "./commands/refunds.ts";
import { restored } from "./commands/restored.ts";
import { secrets } from "./commands/secrets.ts";
import { stuck } from "./commands/stuck.ts";
import { exitCodes, Refused } from "./refused.ts";

const program = new Command("amana")
  .description("Shows and repairs a running or half broken system, straight at the services' databases.")
  .addHelpText(
    "after",
    `
Where the databases are: --database-url with --service, IDENTITY_DATABASE_URL, PAYMENTS_DATABASE_URL …, DATABASE_URL where
only one service is meant, or the system that \`npx --yes pnpm@12 start\` runs here.

Exit codes: 0 done; 1 refused, or not all of it done; 2 called wrongly; 3 a database did not answer; 4 there is something to do.`,
  )
  .showHelpAfterError("(amana --help says more)")
  .exitOverride();

for (const add of [stuck, deadLetters, outbox, refunds, apiKeys, migrateStatus, secrets, backup, restored]) add(program);

try {
  await program.parseAsync(process.argv.filter((word, i) => i < 2 || word !== "--"));
} catch (error) {
  process.exitCode = codeOf(error);
}

/** Says why, unless commander has. */
function codeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  if (error instanceof Refused || error instanceof DomainError || error instanceof StartRefused) {
    process.stderr.write(`${error.message}\n`);
    return error instanceof Refused ? error.exitCode : exitCodes.refused;
  }
  throw error;
}
