import { AmanaError } from "@amana/client";
import { isUuid } from "@amana/runtime/uuid";
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { numberFrom, withDatabaseOptions } from "../options.ts";
import { exitCodes, Refused } from "../refused.ts";
import { type Api, type ApiOptions, connect, type KeyOf } from "./connect.ts";
import { inWords } from "./in-words.ts";

interface About<O> {
  readonly says: string;
  /** Behind "amana ". */
  readonly example: string;
  /** Whose key it takes; of several, the first is what is taken of the development system. */
  readonly key: readonly KeyOf[] | ((options: O) => readonly KeyOf[]);
  /** Of what changes something: the command that shows whether it was done. */
  readonly ask?: (...ids: string[]) => string;
  /** It is sent without an Idempotency-Key: a PATCH, or several requests. */
  readonly isUnkeyed?: boolean;
  /** A change that is asked about first. */
  readonly asksFirst?: boolean;
  /** What else the help says. */
  readonly more?: string;
}

/** The arguments of a command as it declares them; a variadic one is a list. */
type Ids = readonly (string | readonly string[])[];
export type Work<O> = (api: Api, options: O, ...ids: never[]) => Promise<void>;

/** A command that goes through the API. Ids, in `signature` as <…id>, are refused before a call. */
export function apiCommand<O extends ApiOptions>(noun: Command, signature: string, about: About<O>, work: Work<O>): Command {
  const command = withApiOptions(declared(noun, signature).description(about.says), about);
  command.addHelpText("after", helpOf(about));
  return command.action((...given: unknown[]) => runByApi(about, work, given.at(-2) as O, given.slice(0, -2) as Ids));
}

/** Loads what works at the databases, which is called as commander calls actions. */
type AtDatabases = () => Promise<(...given: never[]) => Promise<void>>;

export interface EitherOptions extends ApiOptions {
  readonly databases?: boolean;
  readonly service?: string;
  readonly databaseUrl?: string;
}

/**
 * One thing that can be done both ways: by the API unless an option speaks of databases. Those that
 * belong to one way are refused on the other.
 */
export function eitherCommand<O extends EitherOptions>(
  noun: Command,
  signature: string,
  about: About<O> & { readonly onlyAtDatabases?: (command: Command) => Command },
  work: Work<O>,
  atDatabases: AtDatabases,
): Command {
  const command = withApiOptions(declared(noun, signature).description(about.says), about);
  command.optionsGroup("Straight at the databases, for when the API cannot be asked:");
  withDatabaseOptions(command.option("--databases", "this way, and not by the API; --service and --database-url say so too"));
  const before = command.options.length;
  about.onlyAtDatabases?.(command);
  const own = command.options.slice(before);
  command.optionsGroup("Options:").addHelpText("after", helpOf(about));
  return command.action(async (...given: unknown[]) => {
    const options = given.at(-2) as O;
    const { databases, service, databaseUrl } = options;
    const isAtDatabases = databases || service !== undefined || databaseUrl !== undefined;
    const others = isAtDatabases
      ? command.options.slice(0, before).filter(({ helpGroupHeading }) => helpGroupHeading === apiGroup)
      : own;
    for (const option of others)
      if (command.getOptionValueSource(option.attributeName()) === "cli")
        throw new Refused(`${option.long} goes ${isAtDatabases ? "by the API, without" : "with"} --databases.`, exitCodes.usage);
    if (isAtDatabases) return await (await atDatabases())(...(given as never[]));
    await runByApi(about, work, options, given.slice(0, -2) as Ids);
  });
}

const apiGroup = "The API:";
const named = { business: "a business's key", operator: "an operator's key" };

function helpOf<O>({ example, key, more }: About<O>): string {
  const whose = typeof key === "function" ? "a business's or an operator's key" : key.map((one) => named[one]).join(" or ");
  return `\nGoes through the API, with ${whose}.${more ? `\n${more}` : ""}\n\nExample:\n  amana ${example}`;
}

function declared(noun: Command, signature: string): Command {
  const [name = "", ...args] = signature.split(" ");
  const command = noun.command(name);
  for (const one of args) {
    const argument = new Argument(one);
    if (/id$/.test(argument.name())) argument.argParser(uuidFrom);
    if (argument.variadic) argument.argParser(severalUuids);
    command.addArgument(argument);
  }
  return command;
}

/** The options of every command by the API. */
export function withApiOptions<O>(
  command: Command,
  { ask, asksFirst, isUnkeyed }: Pick<About<O>, "ask" | "asksFirst" | "isUnkeyed">,
): Command {
  command.option("--json", "for programs");
  if (asksFirst) command.option("--yes", "do it without asking first");
  command.optionsGroup(apiGroup);
  command
    .option("--url <url>", "of the deployment; else AMANA_URL, or the system that start runs here")
    .addOption(new Option("--key-file <file>", "with the key, - for standard input; else AMANA_KEY or AMANA_KEY_FILE"))
    .option("--key <key>", "the key itself, which other users of this machine may then see")
    .option("--allow-http", "let the key go to another machine without encryption")
    .option("--timeout <seconds>", "for an answer", numberFrom(0.1, 600), 60);
  if (isKeyed({ ask, isUnkeyed }))
    command.option("--idempotency-key <key>", "of what is to happen once, however often it is sent", visibleAscii);
  return command.optionsGroup("Options:");
}

/** Connects and works; what the API refuses becomes words and an exit code. */
export async function runByApi<O extends ApiOptions>(about: About<O>, work: Work<O>, options: O, ids: Ids): Promise<void> {
  const stop = new AbortController();
  const onSignal = () => {
    // A second one waits for nothing.
    if (stop.signal.aborted) process.exit(exitCodes.interrupted);
    stop.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  const takes = typeof about.key === "function" ? about.key(options) : about.key;
  const api = await connect(options, takes, stop.signal);
  try {
    await work(api, options, ...(ids as never[]));
    if (stop.signal.aborted) process.exitCode ??= exitCodes.interrupted;
  } catch (error) {
    if (!(error instanceof AmanaError)) throw error;
    const ask = about.ask && `amana ${about.ask(...ids.flat())}`;
    const { json } = options;
    throw inWords(error, { url: api.url, json, ask, isKeyed: isKeyed(about), stopped: stop.signal.aborted });
  }
}

const isKeyed = ({ ask, isUnkeyed }: { ask?: unknown; isUnkeyed?: boolean | undefined }) => !!ask && !isUnkeyed;

export function uuidFrom(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError("It must be an id, a UUID. Copy one from a list.");
  return text.toLowerCase();
}

const severalUuids = (text: string, before: readonly string[] = []) => [...before, uuidFrom(text)];

function visibleAscii(text: string): string {
  if (!/^[\x21-\x7e]{1,255}$/.test(text)) throw new InvalidArgumentError("It must be 1 to 255 visible ASCII characters.");
  return text;
}

export function timeFrom(text: string): string {
  const time = new Date(text);
  const [day = ""] = /^\d{4}-\d{2}-\d{2}/.exec(text) ?? [];
  // Date takes the 31st of February for a day of March.
  if (Number.isNaN(time.getTime()) || isNoDay(day)) throw new InvalidArgumentError("It must be a time like 2026-11-20T08:00Z.");
  return time.toISOString();
}

const isNoDay = (day: string) => {
  const midnight = new Date(`${day}T00:00Z`);
  return Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(day);
};

export function amountFrom(text: string): string {
  if (!/^\d{1,12}(\.\d{1,2})?$/.test(text)) throw new InvalidArgumentError("It must be an amount like 1250.00.");
  return text;
}

/** Words that belong to what is asked for, such as the reason for an audit trail. */
export function wordsFrom(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must not be empty.");
  return text;
}
