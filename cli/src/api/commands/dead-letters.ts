import type { ListDeadLettersItem } from "@amana/client";
import { deadLetterStatuses } from "@amana/public-api/names";
import { type Command, Option } from "commander";
import { CommandError, exitCodes } from "../../command-error.ts";
import { confirm } from "../../confirm.ts";
import { withActorOption } from "../../options.ts";
import { numberParser, parseText } from "../../parsers.ts";
import { ageOf, type Columns } from "../../print.ts";
import { actOnEach } from "../act-on-each.ts";
import { type ApiOrDatabaseOptions, apiOrDatabaseCommand } from "../api-command.ts";
import type { Api, ApiOptions } from "../connect.ts";
import { type ListOptions, showList, withListOptions } from "../list-command.ts";

type DeadLetter = ListDeadLettersItem;

const columns: Columns<DeadLetter> = {
  ID: ({ id }) => id,
  SERVICE: { cellOf: ({ service }) => service, omitOrder: 1 },
  TOPIC: { cellOf: ({ topic }) => topic, omitOrder: 3 },
  STATUS: ({ status }) => status,
  AGE: ({ created_at }) => ageOf(created_at),
  ATTEMPTS: { cellOf: ({ attempts }) => attempts, alignRight: true, omitOrder: 4 },
  KEY: { cellOf: ({ key }) => key, omitOrder: 5 },
  REASON: { cellOf: ({ reason }) => reason.slice(0, 120), minWidth: 12, omitOrder: 2 },
};

interface Filters extends ListOptions, ApiOrDatabaseOptions {
  readonly topic?: string;
  readonly status?: DeadLetter["status"];
}

interface RetryOptions extends ApiOrDatabaseOptions {
  readonly all?: boolean;
  readonly topic?: string;
  readonly status?: DeadLetter["status"];
}

/** Loads the actions on demand, because the database packages load slowly. */
const loadDatabaseActions = () => import("../../database/dead-letters.ts");
const key = ["operator"] as const;
const helpNote = "--databases also works while the services are down.";
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
        summary: "list dead-lettered messages that are neither delivered nor dropped",
        example: "dead-letters list --status PARKED",
        key,
        helpNote,
      },
      (api, { topic, status, ...options }) =>
        showList(api, options, { columns, emptyText: "There are no dead-lettered messages." }, (page) =>
          api.amana.deadLetters.list({ ...page, topic: topic || undefined, status }, api.requestOptions()),
        ),
      async () => (await loadDatabaseActions()).listDeadLetters,
    ),
  )
    .option("--topic <topic>", "only this topic, for example payments.v1")
    .addOption(statusOption());
  apiOrDatabaseCommand(
    group,
    "show <id>",
    { summary: "show a dead-lettered message with the permitted fields of its payload", example: "dead-letters show 0199…", key },
    ({ amana, requestOptions }, _options, id: string) => amana.deadLetters.get(id, requestOptions()),
    async () => (await loadDatabaseActions()).showDeadLetter,
  );
  apiOrDatabaseCommand<RetryOptions>(
    group,
    "retry [ids...]",
    {
      summary: "retry dead-lettered messages now in the running consumer",
      example: "dead-letters retry 0199…",
      key,
      statusCommand: () => "dead-letters list",
      isWithoutIdempotencyKey: true,
      helpNote,
      addDatabaseOptions: (command) =>
        withActorOption(command).option("--wait <seconds>", "maximum time to wait for the attempts", numberParser(0, 3_600), 10),
    },
    retryByApi,
    async () => (await loadDatabaseActions()).retryDeadLetters,
  )
    .option("--all", "retry all messages with the status PARKED (or the status in --status); use it instead of ids")
    .option("--topic <topic>", "with --all: only this topic", parseText)
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
      summary: "drop dead-lettered messages; they have no effect and count as processed",
      example: 'dead-letters drop 0199… --reason "sent in error"',
      key,
      statusCommand: () => "dead-letters list",
      needsConfirmation: true,
      isWithoutIdempotencyKey: true,
      addDatabaseOptions: withActorOption,
    },
    dropByApi,
    async () => (await loadDatabaseActions()).dropDeadLetters,
  ).requiredOption("--reason <text>", "reason in the audit trail", parseText);
}

async function retryByApi(api: Api, { all, topic, status, json }: RetryOptions, ids: readonly string[]): Promise<void> {
  if (ids.length > 0 === (all === true)) throw new CommandError("Use either ids or --all.", exitCodes.usage);
  const selectedIds = all ? await readAllIds(api, { topic, status }) : ids;
  const retry = async (id: string) => outcomeOf(await api.amana.deadLetters.retry(id, api.requestOptions()));
  await actOnEach(selectedIds, retry, {
    successOutcome: "DELIVERED",
    emptyText: "There are no dead-lettered messages to retry.",
    json,
  });
}

const outcomeOf = ({ service, status }: Pick<DeadLetter, "service" | "status">) => ({ service, outcome: status });

/**
 * Returns the ids of all matching dead-lettered messages. The command reads all ids before the
 * first retry, because the API no longer lists a message after its retry.
 */
async function readAllIds(api: Api, { topic, status = "PARKED" }: Pick<RetryOptions, "topic" | "status">): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of api.amana.deadLetters.list({ status, topic, limit: 100 }, { signal: api.stopSignal })) ids.push(id);
  return ids;
}

async function dropByApi(api: Api, { reason = "", json, yes }: ApiOptions & { reason?: string }, ids: readonly string[]) {
  await confirm(`Drop ${ids.join(", ")}? These messages are not processed. This cannot be undone.`, { yes });
  const drop = async (id: string) => outcomeOf(await api.amana.deadLetters.drop(id, { note: reason }, api.requestOptions()));
  await actOnEach(ids, drop, { successOutcome: "DROPPED", json });
}
