import { type Command, Option } from "commander";
import { systemUser } from "./database/audit-actor.ts";
import { serviceNames } from "./database/service-descriptions.ts";

export interface CommonOptions {
  readonly service?: string;
  readonly databaseUrl?: string;
  readonly json?: boolean;
}

export interface ChangeOptions extends CommonOptions {
  readonly as: string;
}

export const withDatabaseOptions = (command: Command): Command =>
  command
    .option("--service <name>", `use only the database of this service: ${serviceNames.join(", ")} (default: all)`)
    .option("--database-url <url>", "URL of the service's database; requires --service if the command can use several services");

/** Adds the options of a command that reads databases. */
export const withCommonOptions = (command: Command, example?: string): Command =>
  withDatabaseOptions(command).option("--json", jsonHelp).addHelpText("after", databaseHelp(example));

/** Adds `--as`, the actor in the audit trail. */
export const withActorOption = (command: Command): Command =>
  command.addOption(new Option("--as <name>", "your name in the audit trail").default(systemUser(), "the system user"));

/** Adds the options of a command that changes databases. */
export const withChangeOptions = (command: Command, example?: string): Command =>
  withActorOption(withCommonOptions(command, example));

export const jsonHelp = "print one JSON document";

/** Returns the last part of the help text for a command that does not use the API. */
export const databaseHelp = (example?: string): string =>
  `\nConnects to the databases of the services.${example ? `\n\nExample:\n  amana ${example}` : ""}`;
