import type { Business } from "@amana/client";
import { businessStatuses } from "@amana/public-api/names";
import { type Command, Option } from "commander";
import { confirm } from "../../ask.ts";
import { type Columns, localTime } from "../../print.ts";
import { apiCommand, wordsFrom } from "../api-command.ts";
import type { Api, ApiOptions } from "../connect.ts";
import { type ListOptions, showList, showOne, withListOptions } from "../show.ts";

const columns: Columns<Business> = {
  ID: ({ id }) => id,
  STATUS: ({ status }) => status,
  NAME: { of: ({ name }) => name, min: 10 },
  KEY: { of: ({ api_key_prefix }) => api_key_prefix, spare: 2 },
  CREATED: { of: ({ created_at }) => localTime(created_at), spare: 1 },
};

const key = ["operator"] as const;
const ask = (id = "") => (id ? `businesses show ${id}` : "businesses list");

interface CreateOptions extends ApiOptions {
  readonly name: string;
  readonly pending?: boolean;
}

interface Filters extends ListOptions {
  readonly status?: Business["status"];
  readonly search?: string;
}

/** The tenants. */
export function businesses(program: Command): void {
  const noun = program
    .command("businesses")
    .description("create, list, show, approve, reject, disable, enable, rename, rotate-key");
  apiCommand<CreateOptions>(
    noun,
    "create",
    {
      says: "a new business, with its first key, which is shown once",
      example: 'businesses create --name "Épicerie Fine"',
      key,
      ask,
    },
    async ({ amana, call }, { name, pending, json }) =>
      showOne(await amana.businesses.create({ name, ...(pending && { status: "PENDING" }) }, call()), { json, timeout: 0 }),
  )
    .requiredOption("--name <name>", "of the business", wordsFrom)
    .option("--pending", "its keys work once it is approved");
  withListOptions(
    apiCommand<Filters>(
      noun,
      "list",
      { says: "businesses, newest first", example: "businesses list --status PENDING", key },
      (api, { status, search, ...options }) =>
        showList(api, options, { columns, none: "No businesses found." }, (page) =>
          api.amana.businesses.list({ ...page, ...(status && { status }), ...(search && { search }) }, api.call()),
        ),
    ),
  )
    .addOption(new Option("--status <status>").choices(businessStatuses))
    .option("--search <text>", "any part of the name", wordsFrom);
  apiCommand(
    noun,
    "show <id>",
    { says: "one business", example: "businesses show 0199…", key },
    async ({ amana, call }, options, id: string) => showOne(await amana.businesses.get(id, call()), options),
  );
  changes(noun);
}

/** Verb, the status it leads to, what it means for the business, and what is said of it. */
const moves = [
  ["approve", "ACTIVE", "Its keys work from now on.", "a PENDING business: its keys work"],
  ["reject", "REJECTED", "That is final: its keys never work.", "a PENDING business, for good"],
  ["disable", "DISABLED", "From the answer on no gateway takes any of its keys.", "an ACTIVE business: its keys work no more"],
  ["enable", "ACTIVE", "Its keys work again.", "a DISABLED business: its keys work again"],
] as const;

function changes(noun: Command): void {
  for (const [verb, status, meaning, says] of moves) {
    const asksFirst = status !== "ACTIVE";
    apiCommand(
      noun,
      `${verb} <id>`,
      { says, example: `businesses ${verb} 0199…`, key, ask, asksFirst, isUnkeyed: true },
      async (api, options, id: string) => {
        if (asksFirst) await askFirst(api, options, id, `${verb} it? ${meaning}`);
        showOne(await api.amana.businesses.update(id, { status }, api.call()), options);
      },
    );
  }
  apiCommand(
    noun,
    "rename <id> <name>",
    {
      says: "another name for it",
      example: 'businesses rename 0199… "Épicerie Fine"',
      key,
      ask: (id) => ask(id),
      isUnkeyed: true,
    },
    async ({ amana, call }, options, id: string, name: string) =>
      showOne(await amana.businesses.update(id, { name }, call()), options),
  );
  apiCommand(
    noun,
    "rotate-key <id>",
    {
      says: "replaces its newest live key by a new one, which is shown once",
      example: "businesses rotate-key 0199…",
      key,
      ask,
      asksFirst: true,
      isUnkeyed: true,
    },
    async (api, options, id: string) => {
      await askFirst(api, options, id, "rotate its key? From the answer on the newest live one is taken nowhere.");
      showOne(await api.amana.businesses.update(id, { rotate_api_key: true }, api.call()), options);
    },
  );
}

async function askFirst(api: Api, options: ApiOptions, id: string, what: string): Promise<void> {
  if (options.yes) return;
  const { name, status } = await api.amana.businesses.get(id, api.call());
  await confirm(`The business "${name}" (${status}): ${what}`, options);
}
