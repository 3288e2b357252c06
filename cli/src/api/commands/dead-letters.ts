import type { ListDeadLettersItem } from "@amana/client";
import { deadLetterStatuses } from "@amana/public-api/names";
import { type Command, Option } from "commander";
import { CommandError, exitCodes } from "../../command-error.ts";
import { confirm } from "../../confirm.ts";
import { numberFrom, withAs } from "../../options.ts";
import { ageOf, type Columns } from "../../print.ts";
import { actOnEach } from "../act-on-each.ts";
import { type ApiOrDatabaseOptions, apiOrDatabaseCommand, textFrom } from "../api-command.ts";
import type { Api, ApiOptions } from "../connect.ts";
import { type ListOptions, showList, showResource, withListOptions } from "../show.ts";

type Letter = ListDeadLettersItem;

const columns: Columns<Letter> = {
  ID: ({ id }) => id,
  SERVICE: { of: ({ service }) => service, spare: 1 },
  TOPIC: { of: ({ topic }) => topic, spare: 3 },
  STATUS: ({ status }) => status,
  AGE: ({ created_at }) => ageOf(created_at),
  ATTEMPTS: { of: ({ attempts }) => attempts, right: true, spare: 4 },
  KEY: { of: ({ key }) => key, spare: 5 },
  REASON: { of: ({ reason }) => reason.slice(0, 120), min: 12, spare: 2 },
};

interface Filters extends ListOptions, ApiOrDatabaseOptions {
  readonly topic?: string;
  readonly status?: Letter["status"];
}

interface RetryOptions extends ApiOrDatabaseOptions {
  readonly all?: boolean;
  readonly topic?: string;
  readonly status?: Letter["status"];
}

/** Loaded on demand, because the database packages load slowly. */
const loadDatabaseActions = () => import("../../database/dead-letters.ts");
const key = ["operator"] as const;
const more = "--databases also works while the services are down.";
const statusOption = () => new Option("--status <status>", "only this status").choices(deadLetterStatuses);
export function deadLetters(program: Command): void {
  const group = program
    .command("dead-letters")
    .description("list, show, retry or drop messages that a consumer could not process");
  withListOptions(
    apiOrDatabaseCommand<Filters>(
      group,
      "list",
      {
        summary: "list dead letters that are neither delivered nor dropped",
        example: "dead-letters list --status PARKED",
        key,
        more,
      },
      (api, { topic, status, ...options }) =>
        showList(api, options, { columns, none: "No dead letters found." }, (page) =>
          api.amana.deadLetters.list({ ...page, ...(topic && { topic }), ...(status && { status }) }, api.call()),
        ),
      async () => (await loadDatabaseActions()).list,
    ),
  )
    .option("--topic <topic>", "only this topic, for example payments.v1")
    .addOption(statusOption());
  apiOrDatabaseCommand(
    group,
    "show <id>",
    { summary: "show a dead letter with the permitted fields of its payload", example: "dead-letters show 0199…", key },
    async ({ amana, call }, options, id: string) => showResource(await amana.deadLetters.get(id, call()), options),
    async () => (await loadDatabaseActions()).show,
  );
  apiOrDatabaseCommand<RetryOptions>(
    group,
    "retry [ids...]",
    {
      summary: "retry dead letters now in the running consumer",
      example: "dead-letters retry 0199…",
      key,
      statusCommand: () => "dead-letters list",
      isWithoutIdempotencyKey: true,
      more,
      onlyAtDatabases: (command) =>
        withAs(command).option("--wait <seconds>", "maximum time to wait for the attempts", numberFrom(0, 3_600), 10),
    },
    retryByApi,
    async () => (await loadDatabaseActions()).retry,
  )
    .option("--all", "retry all PARKED dead letters, or all with --status, in place of ids")
    .option("--topic <topic>", "with --all: only this topic", textFrom)
    .addOption(
      new Option("--status <status>", "with --all: only this status (default: PARKED)").choices([
        "RETRYING",
        "WAITING",
        "PARKED",
      ]),
    );
  apiOrDatabaseCommand<ApiOrDatabaseOptions & { readonly reason?: string }>(
    group,
    "drop <ids...>",
    {
      summary: "drop dead letters without their effect; they count as processed",
      example: 'dead-letters drop 0199… --reason "sent in error"',
      key,
      statusCommand: () => "dead-letters list",
      needsConfirmation: true,
      isWithoutIdempotencyKey: true,
      onlyAtDatabases: withAs,
    },
    dropByApi,
    async () => (await loadDatabaseActions()).drop,
  ).requiredOption("--reason <text>", "reason in the audit trail", textFrom);
}

async function retryByApi(api: Api, { all, topic, status, json }: RetryOptions, ids: readonly string[]): Promise<void> {
  if (ids.length > 0 === (all === true)) throw new CommandError("Use either ids or --all.", exitCodes.usage);
  const chosen = all ? await everyId(api, { topic, status }) : ids;
  const retry = async (id: string) => outcomeOf(await api.amana.deadLetters.retry(id, api.call()));
  await actOnEach(chosen, retry, { done: "DELIVERED", none: "No dead letters to retry.", json });
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
  await confirm(`Drop ${ids.join(", ")}? These messages are not processed. This cannot be undone.`, { yes: yes ?? false });
  const drop = async (id: string) => outcomeOf(await api.amana.deadLetters.drop(id, { note: reason }, api.call()));
  await actOnEach(ids, drop, { done: "DROPPED", none: "", json });
}
