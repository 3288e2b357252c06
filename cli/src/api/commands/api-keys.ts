import type { ApiKey, OwnApiKey } from "@amana/client";
import type { Command } from "commander";
import { CommandError, exitCodes } from "../../command-error.ts";
import { confirm } from "../../confirm.ts";
import { withActorOption } from "../../options.ts";
import { parseText, parseTime, parseUuid } from "../../parsers.ts";
import { type Columns, localTime } from "../../print.ts";
import { actOnEach } from "../act-on-each.ts";
import { type ApiOrDatabaseOptions, apiCommand, apiOrDatabaseCommand } from "../api-command.ts";
import type { Api, ApiOptions, KeyOwner } from "../connect.ts";
import { listCommand } from "../list-command.ts";

type Row = ApiKey | OwnApiKey;

const columns: Columns<Row> = {
  ID: ({ id }) => id,
  STATUS: (row) => (row.revoked_at ? "REVOKED" : row.expires_at && Date.parse(row.expires_at) <= Date.now() ? "EXPIRED" : "LIVE"),
  NAME: { cellOf: ({ name }) => name, minWidth: 10 },
  KEY: { cellOf: (row) => ("api_key_prefix" in row ? row.api_key_prefix : row.prefix), omitOrder: 2 },
  USED: { cellOf: ({ last_used_at }) => localTime(last_used_at), omitOrder: 1 },
  EXPIRES: { cellOf: ({ expires_at }) => localTime(expires_at), omitOrder: 3 },
};

interface BusinessOption {
  readonly business?: string;
}

/** Owners of permitted keys. Only an operator's key can be used with `--business`. */
const key = ({ business }: BusinessOption): readonly KeyOwner[] => (business ? ["operator"] : ["business", "operator"]);
const statusCommand = () => "api-keys list";

function businessFor({ keyOwner }: Api, business: string | undefined): string | undefined {
  if (keyOwner === "operator" && !business)
    throw new CommandError("You are using an operator's key. Add --business <id> to select the business.", exitCodes.usage);
  return business;
}

export function apiKeys(program: Command): void {
  const group = program.command("api-keys").description("create, list or revoke API keys of a business");
  apiCommand<ApiOptions & BusinessOption & { readonly name: string; readonly expiresAt?: string; readonly allowedIp?: string[] }>(
    group,
    "create",
    { summary: "create a key and print it once", example: "api-keys create --name till-2 --business 0199…", key, statusCommand },
    async (api, { business, name, expiresAt, allowedIp }) => {
      const business_id = businessFor(api, business);
      const body = { name, expires_at: expiresAt, allowed_ips: allowedIp };
      const { apiKeys, me } = api.amana;
      return business_id
        ? await apiKeys.create({ ...body, business_id }, api.requestOptions())
        : await me.createApiKey(body, api.requestOptions());
    },
  )
    .requiredOption("--name <name>", "name of the key", parseText)
    .option("--business <id>", "business of the key; required with an operator's key", parseUuid)
    .option("--expires-at <time>", "time at which the key expires (default: never)", parseTime)
    .option("--allowed-ip <cidr...>", "networks that may use the key (default: all)");
  listCommand<Row, BusinessOption>(
    group,
    "list",
    {
      summary: "list keys, newest first",
      example: "api-keys list --business 0199…",
      key,
      columns,
      emptyText: "No API keys found.",
    },
    (api, page, { business }) => {
      const business_id = businessFor(api, business);
      const { apiKeys, me } = api.amana;
      return business_id
        ? apiKeys.list({ ...page, business_id }, api.requestOptions())
        : me.listApiKeys(page, api.requestOptions());
    },
  ).option("--business <id>", "business of the keys; required with an operator's key", parseUuid);
  apiOrDatabaseCommand<ApiOrDatabaseOptions & { readonly reason?: string }>(
    group,
    "revoke <ids...>",
    {
      summary: "revoke keys; gateways reject them when the command returns, or at most 500 ms later with --databases",
      example: "api-keys revoke 0199… --reason lost",
      key: ["operator", "business"],
      statusCommand,
      needsConfirmation: true,
      isWithoutIdempotencyKey: true,
      helpNote:
        "After a restore of identity, use --databases before the gateway starts. --databases also revokes operators' keys.",
      addDatabaseOptions: withActorOption,
    },
    revokeByApi,
    async () => (await import("../../database/revoke-keys.ts")).revokeKeys,
  ).option("--reason <text>", "reason in the audit trail; required with --databases", parseText);
}

async function revokeByApi(api: Api, { reason, json, yes }: ApiOptions & { reason?: string }, ids: readonly string[]) {
  await confirm(`Revoke ${ids.join(", ")}? This cannot be undone. After the response every gateway rejects these keys.`, { yes });
  const { apiKeys, me } = api.amana;
  const revoke = (id: string) =>
    api.keyOwner === "operator"
      ? apiKeys.revoke(id, { reason }, api.requestOptions())
      : me.revokeApiKey(id, { reason }, api.requestOptions());
  const successOutcome = "REVOKED";
  await actOnEach(ids, async (id) => revoke(id).then(() => ({ outcome: successOutcome })), {
    successOutcome,
    json,
  });
}
