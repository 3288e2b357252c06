import type { OperatorKey } from "@amana/client";
import type { Command } from "commander";
import { confirm } from "../../ask.ts";
import { type Columns, localTime } from "../../print.ts";
import { apiCommand, wordsFrom } from "../api-command.ts";
import type { ApiOptions } from "../connect.ts";
import { type ListOptions, showList, showOne, withListOptions } from "../show.ts";

const columns: Columns<OperatorKey> = {
  ID: ({ id }) => id,
  STATUS: ({ revoked_at }) => (revoked_at ? "REVOKED" : "LIVE"),
  NAME: { of: ({ name }) => name, min: 10 },
  KEY: { of: ({ admin_key_prefix }) => admin_key_prefix, spare: 2 },
  USED: { of: ({ last_used_at }) => localTime(last_used_at), spare: 1 },
};

const key = ["operator"] as const;
const ask = () => "operator-keys list";

export function operatorKeys(program: Command): void {
  const noun = program.command("operator-keys").description("create, list, revoke");
  apiCommand<ApiOptions & { readonly name: string }>(
    noun,
    "create",
    { says: "a key for an operator, which is shown once", example: "operator-keys create --name amina", key, ask },
    async ({ amana, call }, { name, ...options }) => showOne(await amana.operatorKeys.create({ name }, call()), options),
  ).requiredOption("--name <name>", "who it is for, as the audit trail names them", wordsFrom);
  withListOptions(
    apiCommand<ListOptions>(
      noun,
      "list",
      { says: "operators' keys, newest first", example: "operator-keys list", key },
      (api, options) =>
        showList(api, options, { columns, none: "There is none." }, (page) => api.amana.operatorKeys.list(page, api.call())),
    ),
  );
  apiCommand<ApiOptions & { readonly reason?: string }>(
    noun,
    "revoke <id>",
    { says: "no gateway takes it any more", example: "operator-keys revoke 0199… --reason left", key, ask, asksFirst: true },
    async ({ amana, call }, { reason, ...options }, id: string) => {
      await confirm(`Revoke the operator's key ${id}? It cannot be undone: from the answer on it is taken nowhere.`, options);
      showOne(await amana.operatorKeys.revoke(id, reason ? { reason } : {}, call()), options);
    },
  ).option("--reason <text>", "for the audit trail", wordsFrom);
}
