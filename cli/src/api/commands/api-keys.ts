import type { ApiKey, OwnApiKey } from "@amana/client";
import type { Command } from "commander";
import { confirm } from "../../ask.ts";
import { withAs } from "../../options.ts";
import { type Columns, localTime } from "../../print.ts";
import { exitCodes, Refused } from "../../refused.ts";
import { apiCommand, type EitherOptions, eitherCommand, timeFrom, uuidFrom, wordsFrom } from "../api-command.ts";
import type { Api, ApiOptions, KeyOf } from "../connect.ts";
import { oneByOne } from "../one-by-one.ts";
import { type ListOptions, showList, showOne, withListOptions } from "../show.ts";

type Row = ApiKey | OwnApiKey;

const columns: Columns<Row> = {
  ID: ({ id }) => id,
  STATUS: (row) => (row.revoked_at ? "REVOKED" : row.expires_at && Date.parse(row.expires_at) <= Date.now() ? "EXPIRED" : "LIVE"),
  NAME: { of: ({ name }) => name, min: 10 },
  KEY: { of: (row) => ("api_key_prefix" in row ? row.api_key_prefix : row.prefix), spare: 2 },
  USED: { of: ({ last_used_at }) => localTime(last_used_at), spare: 1 },
  EXPIRES: { of: ({ expires_at }) => localTime(expires_at), spare: 3 },
};

interface OfBusiness {
  readonly business?: string;
}

/** An operator names whose keys are meant; a business means its own. */
const key = ({ business }: OfBusiness): readonly KeyOf[] => (business ? ["operator"] : ["business", "operator"]);
const ask = () => "api-keys list";

function businessFor({ keyOf }: Api, business: string | undefined): string | undefined {
  if (keyOf === "operator" && !business) throw new Refused("With an operator's key --business says whose keys.", exitCodes.usage);
  return business;
}

export function apiKeys(program: Command): void {
  const noun = program.command("api-keys").description("create, list, revoke: keys of businesses");
  apiCommand<ApiOptions & OfBusiness & { readonly name: string; readonly expiresAt?: string; readonly allowedIp?: string[] }>(
    noun,
    "create",
    { says: "one more key, which is shown once", example: "api-keys create --name till-2 --business 0199…", key, ask },
    async (api, { business: given, name, expiresAt, allowedIp, ...options }) => {
      const business_id = businessFor(api, given);
      const body = { name, ...(expiresAt && { expires_at: expiresAt }), ...(allowedIp && { allowed_ips: allowedIp }) };
      const { apiKeys, me } = api.amana;
      const made = business_id ? apiKeys.create({ ...body, business_id }, api.call()) : me.createApiKey(body, api.call());
      showOne(await made, options);
    },
  )
    .requiredOption("--name <name>", "to tell it from others", wordsFrom)
    .option("--business <id>", "whose, with an operator's key", uuidFrom)
    .option("--expires-at <time>", "in the future; never unless given", timeFrom)
    .option("--allowed-ip <cidr...>", "the only networks it may be used from");
  withListOptions(
    apiCommand<ListOptions & OfBusiness>(
      noun,
      "list",
      { says: "keys of a business, newest first", example: "api-keys list --business 0199…", key },
      async (api, { business: given, ...options }) => {
        const business_id = businessFor(api, given);
        const { apiKeys, me } = api.amana;
        await showList<Row>(api, options, { columns, none: "There is none." }, (page) =>
          business_id ? apiKeys.list({ ...page, business_id }, api.call()) : me.listApiKeys(page, api.call()),
        );
      },
    ),
  ).option("--business <id>", "whose, with an operator's key", uuidFrom);
  eitherCommand<EitherOptions & { readonly reason?: string }>(
    noun,
    "revoke <ids...>",
    {
      says: "no gateway takes them any more",
      example: "api-keys revoke 0199… --reason lost",
      key: ["operator", "business"],
      ask,
      asksFirst: true,
      isUnkeyed: true,
      more: "--databases is for after a restore of identity, before the gateway starts: also keys of operators.",
      onlyAtDatabases: withAs,
    },
    revokeByApi,
    async () => (await import("../../database/revoke-keys.ts")).revokeKeys,
  ).option("--reason <text>", "for the audit trail; needed with --databases", wordsFrom);
}

async function revokeByApi(api: Api, { reason, json, yes }: ApiOptions & { reason?: string }, ids: readonly string[]) {
  await confirm(`Revoke ${ids.join(", ")}? It cannot be undone: from the answer on no gateway takes them.`, {
    yes: yes ?? false,
  });
  const { apiKeys, me } = api.amana;
  const revoke = (id: string) => {
    const body = reason ? { reason } : {};
    return api.keyOf === "operator" ? apiKeys.revoke(id, body, api.call()) : me.revokeApiKey(id, body, api.call());
  };
  const done = "REVOKED";
  await oneByOne(ids, async (id) => revoke(id).then(() => ({ outcome: done })), { done, none: "", json });
}
