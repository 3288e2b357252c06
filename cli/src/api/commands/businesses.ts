import type { Business, ListBusinessesQuery } from "@amana/client";
import { businessStatuses } from "@amana/public-api/names";
import { type Command, Option } from "commander";
import { confirm } from "../../confirm.ts";
import { parseText } from "../../parsers.ts";
import { type Columns, localTime } from "../../print.ts";
import { apiCommand } from "../api-command.ts";
import type { Api, ApiOptions } from "../connect.ts";
import { listCommand } from "../list-command.ts";

const columns: Columns<Business> = {
  ID: ({ id }) => id,
  STATUS: ({ status }) => status,
  NAME: { cellOf: ({ name }) => name, minWidth: 10 },
  KEY: { cellOf: ({ api_key_prefix }) => api_key_prefix, omitOrder: 2 },
  CREATED: { cellOf: ({ created_at }) => localTime(created_at), omitOrder: 1 },
};

const key = ["operator"] as const;
const statusCommand = (id = "") => (id ? `businesses show ${id}` : "businesses list");

export function businesses(program: Command): void {
  const group = program
    .command("businesses")
    .description("create, list, show, approve, reject, disable, enable or rename businesses; rotate a key");
  apiCommand<ApiOptions & { readonly name: string; readonly pending?: boolean }>(
    group,
    "create",
    {
      summary: "create a business and print its first key once",
      example: 'businesses create --name "Épicerie Fine"',
      key,
      statusCommand,
    },
    ({ amana, requestOptions }, { name, pending }) =>
      amana.businesses.create({ name, ...(pending && { status: "PENDING" }) }, requestOptions()),
  )
    .requiredOption("--name <name>", "name of the business", parseText)
    .option("--pending", "create the business with the status PENDING; its keys become valid when it is approved");
  listCommand<Business, Pick<ListBusinessesQuery, "status" | "search">>(
    group,
    "list",
    {
      summary: "list businesses, newest first",
      example: "businesses list --status PENDING",
      key,
      columns,
      emptyText: "No businesses found.",
    },
    ({ amana, requestOptions }, page, { status, search }) => amana.businesses.list({ ...page, status, search }, requestOptions()),
  )
    .addOption(new Option("--status <status>", "only this status").choices(businessStatuses))
    .option("--search <text>", "only names that contain this text", parseText);
  apiCommand(
    group,
    "show <id>",
    { summary: "show a business", example: "businesses show 0199…", key },
    ({ amana, requestOptions }, _options, id: string) => amana.businesses.get(id, requestOptions()),
  );
  addChanges(group);
}

/** Each entry: subcommand, new status, effect that the confirmation states, and help text. */
const statusChanges = [
  ["approve", "ACTIVE", "Its keys become valid.", "approve a PENDING business; its keys become valid"],
  ["reject", "REJECTED", "This is final; its keys never become valid.", "reject a PENDING business permanently"],
  [
    "disable",
    "DISABLED",
    "After the response every gateway rejects its keys.",
    "disable an ACTIVE business; its keys are rejected",
  ],
  ["enable", "ACTIVE", "Its keys become valid again.", "enable a DISABLED business; its keys become valid again"],
] as const;

function addChanges(group: Command): void {
  for (const [verb, status, effect, summary] of statusChanges) {
    const needsConfirmation = status !== "ACTIVE";
    apiCommand(
      group,
      `${verb} <id>`,
      { summary, example: `businesses ${verb} 0199…`, key, statusCommand, needsConfirmation, isWithoutIdempotencyKey: true },
      async (api, options, id: string) => {
        if (needsConfirmation) await confirmForBusiness(api, options, id, `${verb} it? ${effect}`);
        return await api.amana.businesses.update(id, { status }, api.requestOptions());
      },
    );
  }
  apiCommand(
    group,
    "rename <id> <name>",
    {
      summary: "rename a business",
      example: 'businesses rename 0199… "Épicerie Fine"',
      key,
      statusCommand: (id) => statusCommand(id),
      isWithoutIdempotencyKey: true,
    },
    ({ amana, requestOptions }, _options, id: string, name: string) => amana.businesses.update(id, { name }, requestOptions()),
  );
  apiCommand(
    group,
    "rotate-key <id>",
    {
      summary: "replace the newest live key of a business and print the new key once",
      example: "businesses rotate-key 0199…",
      key,
      statusCommand,
      needsConfirmation: true,
      isWithoutIdempotencyKey: true,
    },
    async (api, options, id: string) => {
      await confirmForBusiness(api, options, id, "rotate its key? After the response every gateway rejects its newest live key.");
      return await api.amana.businesses.update(id, { rotate_api_key: true }, api.requestOptions());
    },
  );
}

async function confirmForBusiness(api: Api, options: ApiOptions, id: string, question: string): Promise<void> {
  if (options.yes) return;
  const { name, status } = await api.amana.businesses.get(id, api.requestOptions());
  await confirm(`Business "${name}" (${status}): ${question}`, options);
}
