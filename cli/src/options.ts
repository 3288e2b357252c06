import { type Command, InvalidArgumentError, Option } from "commander";
import { systemUser } from "./database/as.ts";
import { serviceNames } from "./database/repaired-services.ts";

export interface CommonOptions {
  readonly service?: string;
  readonly databaseUrl?: string;
  readonly json?: boolean;
}

export interface ChangeOptions extends CommonOptions {
  readonly as: string;
}

/** Reads a number; what is none would wait for ever, or for no time. */
export const numberFrom =
  (min: number, max: number) =>
  (text: string): number => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw new InvalidArgumentError(`It must be a number from ${min} to ${max}.`);
    return value;
  };

/** The same of what has no parts: a count, a port. */
export const wholeFrom = (min: number, max: number) => (text: string) => {
  const value = numberFrom(min, max)(text);
  if (!Number.isInteger(value)) throw new InvalidArgumentError("It must be a whole number.");
  return value;
};

/** Which databases. */
export const withDatabaseOptions = (command: Command): Command =>
  command
    .option("--service <name>", `one of ${serviceNames.join(", ")}; all unless given`)
    .option("--database-url <url>", "of that service's database");

/** What every command that looks at databases takes. */
export const withCommonOptions = (command: Command, example?: string): Command =>
  withDatabaseOptions(command).option("--json", "for programs").addHelpText("after", databaseHelp(example));

/** Who changes something there. */
export const withAs = (command: Command): Command =>
  command.addOption(new Option("--as <name>", "who does it, for the audit trail").default(systemUser(), "the system's user"));

/** What every command that changes something takes besides. */
export const withChangeOptions = (command: Command, example?: string): Command => withAs(withCommonOptions(command, example));

/** The end of the help of a command that needs no API. */
export const databaseHelp = (example?: string): string =>
  `\nGoes straight at the services' databases.${example ? `\n\nExample:\n  amana ${example}` : ""}`;
