import type { ListDeadLettersItem } from "@amana/client";
import { deadLetterStatuses } from "@amana/public-api/names";
import { type Command, Option } from "commander";
import { confirm } from "../../ask.ts";
import { numberFrom, withAs } from "../../options.ts";
import { ageOf, type Columns } from "../../print.ts";
import { exitCodes, Refused } from "../../refused.ts";
import { type EitherOptions, eitherCommand, wordsFrom } from "../api-command.ts";
import type { Api, ApiOptions } from "../connect.ts";
import { oneByOne } from "../one-by-one.ts";
import { type ListOptions, showList, showOne, withListOptions } from "../show.ts";

type Letter = ListDeadLettersItem;

const columns: Columns<Letter> = {
  ID: ({ id }) => id,
  SERVICE: { of: ({ service }) => service, spare: 1 },
  TOPIC: { of: ({ topic }) => topic, spare: 3 },
  STATUS: ({ status }) => status,
  AGE: ({ created_at }) => ageOf(created_at),
  TRIED: { of: ({ attempts }) => attempts, right: true, spare: 4 },
  KEY: { of: ({ key }) => key, spare: 5 },
  REASON: { of: ({ reason }) => reason.slice(0, 120), min: 12, spare: 2 },
};

interface Filters extends ListOptions, EitherOptions {
  readonly topic?: string;
  readonly status?: Letter["status"];
}

interface RetryOptions extends EitherOptions {
  readonly all?: boolean;
  readonly topic?: string;
  readonly status?: Letter["status"];
}

/** What works there takes longer to load than most of what the API answers. */
const atDatabases = () => import("../../database/dead-letters.ts");
const key = ["operator"] as const;
const more = "--databases also works while the services are down.";
const statusOption = () => new Option("--status <status>").choices(deadLetterStatuses);

/** Messages that a consumer could not handle. */
export function deadLetters(program: Command): void {
  const noun = program.command("dead-letters").description("list, show, retry, drop: messages that a consumer could not handle");
  withListOptions(
    eitherCommand<Filters>(
      noun,
      "list",
      { says: "those that are not over", example: "dead-letters list --status PARKED", key, more },
      (api, { topic, status, ...options }) =>
        showList(api, options, { columns, none: "No message is set aside." }, (page) =>
          api.amana.deadLetters.list({ ...page, ...(topic && { topic }), ...(status && { status }) }, api.call()),
        ),
      async () => (await atDatabases()).list,
    ),
  )
    .option("--topic <topic>")
    .addOption(statusOption());
  eitherCommand(
    noun,
    "show <id>",
    { says: "one, with what its payload may show", example: "dead-letters show 0199…", key },
    async ({ amana, call }, options, id: string) => showOne(await amana.deadLetters.get(id, call()), options),
    async () => (await atDatabases()).show,
  );
  eitherCommand<RetryOptions>(
    noun,
    "retry [ids...]",
    {
      says: "has the running consumer try them now",
      example: "dead-letters retry 0199…",
      key,
      ask: () => "dead-letters list",
      isUnkeyed: true,
      more,
      onlyAtDatabases: (command) =>
        withAs(command).option("--wait <seconds>", "for the consumer to have tried them", numberFrom(0, 3_600), 10),
    },
    retryByApi,
    async () => (await atDatabases()).retry,
  )
    .option("--all", "instead of ids: all that are PARKED, or of --status")
    .option("--topic <topic>", "with --all: of this topic", wordsFrom)
    .addOption(new Option("--status <status>", "with --all").choices(["RETRYING", "WAITING", "PARKED"]));
  eitherCommand<EitherOptions & { readonly reason?: string }>(
    noun,
    "drop <ids...>",
    {
      says: "ends them without their effect: they count as seen",
      example: 'dead-letters drop 0199… --reason "sent in error"',
      key,
      ask: () => "dead-letters list",
      asksFirst: true,
      isUnkeyed: true,
      onlyAtDatabases: withAs,
    },
    dropByApi,
    async () => (await atDatabases()).drop,
  ).requiredOption("--reason <text>", "for the audit trail", wordsFrom);
}

async function retryByApi(api: Api, { all, topic, status, json }: RetryOptions, ids: readonly string[]): Promise<void> {
  if (ids.length > 0 === (all === true)) throw new Refused("Name the letters' ids, or --all.", exitCodes.usage);
  const chosen = all ? await everyId(api, { topic, status }) : ids;
  const retry = async (id: string) => outcomeOf(await api.amana.deadLetters.retry(id, api.call()));
  await oneByOne(chosen, retry, { done: "DELIVERED", none: "There is nothing to retry.", json });
}

const outcomeOf = ({ service, status }: Pick<Letter, "service" | "status">) => ({ service, outcome: status });

/**
 * Returns the ids of all matching letters. The command reads all before the first retry, because a
 * retried letter leaves the list.
 */
async function everyId(api: Api, { topic, status = "PARKED" }: Pick<RetryOptions, "topic" | "status">): Promise<string[]> {
  const ids: string[] = [];
  const query = { status, ...(topic && { topic }), limit: 100 };
  for await (const { id } of api.amana.deadLetters.list(query, { signal: api.stop })) ids.push(id);
  return ids;
}

async function dropByApi(api: Api, { reason = "", json, yes }: ApiOptions & { reason?: string }, ids: readonly string[]) {
  await confirm(`Drop ${ids.join(", ")}? What they tell never has its effect, and that cannot be undone.`, { yes: yes ?? false });
  const drop = async (id: string) => outcomeOf(await api.amana.deadLetters.drop(id, { note: reason }, api.call()));
  await oneByOne(ids, drop, { done: "DROPPED", none: "", json });
}
