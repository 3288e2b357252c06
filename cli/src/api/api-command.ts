import { AmanaError } from "@amana/client";
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { CommandError, exitCodes } from "../command-error.ts";
import { jsonHelp, withDatabaseOptions } from "../options.ts";
import { appendUuid, numberParser, parseUuid } from "../parsers.ts";
import { jsonText, print, printFields } from "../print.ts";
import { type Api, type ApiOptions, connect, type KeyOwner, keyNames } from "./connect.ts";
import { toCommandError } from "./error-text.ts";

export interface CommandInfo<O> {
  readonly summary: string;
  /** Arguments of the example in the help, without the leading "amana". */
  readonly example: string;
  /**
   * Owners whose keys the command accepts. The first owner's key is the default for the development
   * system.
   */
  readonly key: readonly KeyOwner[] | ((options: O) => readonly KeyOwner[]);
  /**
   * Returns the arguments of the command that shows whether the change took effect. Set only for
   * commands that change data.
   */
  readonly statusCommand?: (...ids: string[]) => string;
  /**
   * True for a command that sends no Idempotency-Key, because it sends a PATCH request or several
   * requests.
   */
  readonly isWithoutIdempotencyKey?: boolean;
  readonly needsConfirmation?: boolean;
  readonly helpNote?: string;
}

/** Arguments of a call, in the order in which the command declares them. */
type Args = readonly (string | readonly string[])[];
/** Work of a command. If it returns a resource, the command prints it as fields or as JSON. */
type Work<O> = (api: Api, options: O, ...ids: never[]) => Promise<object> | Promise<void>;

/** Adds a command that uses the API. Arguments named <…id> in `usage` must be UUIDs. */
export function apiCommand<O extends ApiOptions>(group: Command, usage: string, info: CommandInfo<O>, work: Work<O>): Command {
  const command = withApiOptions(declareCommand(group, usage).description(info.summary), info);
  command.addHelpText("after", helpOf(info));
  return command.action((...actionArgs: unknown[]) =>
    runWithApi(info, work, actionArgs.at(-2) as O, actionArgs.slice(0, -2) as Args),
  );
}

/** Loads a commander action that uses the databases. */
type LoadDatabaseAction = () => Promise<(...actionArgs: never[]) => Promise<void>>;

export interface ApiOrDatabaseOptions extends ApiOptions {
  readonly databases?: boolean;
  readonly service?: string;
  readonly databaseUrl?: string;
}

/**
 * Adds a command that uses the API, or the databases if `--databases`, `--service` or
 * `--database-url` is given. The command rejects API options when it uses the databases, and
 * database options when it uses the API.
 */
export function apiOrDatabaseCommand<O extends ApiOrDatabaseOptions>(
  group: Command,
  usage: string,
  info: CommandInfo<O> & { readonly addDatabaseOptions?: (command: Command) => Command },
  work: Work<O>,
  loadDatabaseAction: LoadDatabaseAction,
): Command {
  const command = withApiOptions(declareCommand(group, usage).description(info.summary), info);
  command.optionsGroup("Database options (the services may be down):");
  withDatabaseOptions(
    command.option("--databases", "use the databases in place of the API (implied by --service and --database-url)"),
  );
  const commonOptionCount = command.options.length;
  info.addDatabaseOptions?.(command);
  const databaseOnlyOptions = command.options.slice(commonOptionCount);
  command.optionsGroup("Options:").addHelpText("after", helpOf(info));
  return command.action(async (...actionArgs: unknown[]) => {
    const options = actionArgs.at(-2) as O;
    const { databases, service, databaseUrl } = options;
    const usesDatabases = databases || service !== undefined || databaseUrl !== undefined;
    const excludedOptions = usesDatabases
      ? command.options.slice(0, commonOptionCount).filter(({ helpGroupHeading }) => helpGroupHeading === apiGroup)
      : databaseOnlyOptions;
    for (const option of excludedOptions)
      if (command.getOptionValueSource(option.attributeName()) === "cli")
        throw new CommandError(
          `${option.long} ${usesDatabases ? "cannot be used with" : "requires"} --databases.`,
          exitCodes.usage,
        );
    if (usesDatabases) return await (await loadDatabaseAction())(...(actionArgs as never[]));
    await runWithApi(info, work, options, actionArgs.slice(0, -2) as Args);
  });
}

const apiGroup = "API options:";

function helpOf<O>({ example, key, helpNote }: CommandInfo<O>): string {
  const required =
    typeof key === "function" ? "a business's or an operator's key" : key.map((owner) => keyNames[owner]).join(" or ");
  return `\nUses the API with ${required}.${helpNote ? `\n${helpNote}` : ""}\n\nExample:\n  amana ${example}`;
}

/** Adds a command. Arguments named <…id> in `usage` must be UUIDs. */
export function declareCommand(group: Command, usage: string): Command {
  const [name = "", ...args] = usage.split(" ");
  const command = group.command(name);
  for (const text of args) {
    const argument = new Argument(text);
    if (/id$/.test(argument.name())) argument.argParser(parseUuid);
    if (argument.variadic) argument.argParser(appendUuid);
    command.addArgument(argument);
  }
  return command;
}

function withApiOptions<O>(command: Command, info: CommandInfo<O>): Command {
  command.option("--json", jsonHelp);
  if (info.needsConfirmation) command.option("--yes", "skip the confirmation");
  command.optionsGroup(apiGroup);
  command
    .option("--url <url>", "address of the deployment (default: AMANA_URL, then the local development system)")
    .addOption(
      new Option("--key-file <file>", "file with the key, - for standard input (default: AMANA_KEY, then AMANA_KEY_FILE)"),
    )
    .option("--key <key>", "API key. Other users of this machine can see command-line arguments; prefer AMANA_KEY or --key-file.")
    .option("--allow-http", "permit an http:// address on another machine; the key is sent unencrypted")
    .option("--timeout <seconds>", "maximum time for a response", numberParser(0.1, 600), 60);
  if (isKeyed(info))
    command.option(
      "--idempotency-key <key>",
      "Idempotency-Key of an earlier call, to repeat it safely (default: a new key)",
      parseIdempotencyKey,
    );
  return command.optionsGroup("Options:");
}

/**
 * Runs `work` with a connection to the API. Converts an API error into a CommandError with a
 * message and an exit code.
 */
async function runWithApi<O extends ApiOptions>(info: CommandInfo<O>, work: Work<O>, options: O, args: Args): Promise<void> {
  const stop = new AbortController();
  const onSignal = () => {
    // A second signal exits immediately.
    if (stop.signal.aborted) process.exit(exitCodes.interrupted);
    stop.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  const permittedKeys = typeof info.key === "function" ? info.key(options) : info.key;
  const api = await connect(options, permittedKeys, stop.signal);
  try {
    const resource = await work(api, options, ...(args as never[]));
    if (resource && options.json) print(jsonText(resource));
    else if (resource) printFields(resource);
    if (stop.signal.aborted) process.exitCode ??= exitCodes.interrupted;
  } catch (error) {
    if (!(error instanceof AmanaError)) throw error;
    const statusCommand = info.statusCommand && `amana ${info.statusCommand(...args.flat())}`;
    const { json } = options;
    throw toCommandError(error, { url: api.url, json, statusCommand, isKeyed: isKeyed(info), isStopped: stop.signal.aborted });
  }
}

const isKeyed = <O>(info: CommandInfo<O>) => info.statusCommand !== undefined && !info.isWithoutIdempotencyKey;

function parseIdempotencyKey(text: string): string {
  if (!/^[\x21-\x7e]{1,255}$/.test(text)) throw new InvalidArgumentError("It must be 1 to 255 visible ASCII characters.");
  return text;
}
