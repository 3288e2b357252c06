import type { OperatorKey } from "@amana/client";
import type { Command } from "commander";
import { confirm } from "../../confirm.ts";
import { parseText } from "../../parsers.ts";
import { type Columns, localTime } from "../../print.ts";
import { apiCommand } from "../api-command.ts";
import type { ApiOptions } from "../connect.ts";
import { listCommand } from "../list-command.ts";

const columns: Columns<OperatorKey> = {
  ID: ({ id }) => id,
  STATUS: ({ revoked_at }) => (revoked_at ? "REVOKED" : "LIVE"),
  NAME: { cellOf: ({ name }) => name, minWidth: 10 },
  KEY: { cellOf: ({ admin_key_prefix }) => admin_key_prefix, omitOrder: 2 },
  USED: { cellOf: ({ last_used_at }) => localTime(last_used_at), omitOrder: 1 },
};

const key = ["operator"] as const;
const statusCommand = () => "operator-keys list";

export function operatorKeys(program: Command): void {
  const group = program.command("operator-keys").description("create, list or revoke operators' keys");
  apiCommand<ApiOptions & { readonly name: string }>(
    group,
    "create",
    { summary: "create an operator's key and print it once", example: "operator-keys create --name amina", key, statusCommand },
    ({ amana, requestOptions }, { name }) => amana.operatorKeys.create({ name }, requestOptions()),
  ).requiredOption("--name <name>", "name of the operator in the audit trail", parseText);
  listCommand(
    group,
    "list",
    {
      summary: "list operators' keys, newest first",
      example: "operator-keys list",
      key,
      columns,
      emptyText: "No operator keys found.",
    },
    ({ amana, requestOptions }, page) => amana.operatorKeys.list(page, requestOptions()),
  );
  apiCommand<ApiOptions & { readonly reason?: string }>(
    group,
    "revoke <id>",
    {
      summary: "revoke an operator's key; when the command returns, every gateway rejects it",
      example: "operator-keys revoke 0199… --reason left",
      key,
      statusCommand,
      needsConfirmation: true,
    },
    async ({ amana, requestOptions }, { reason, ...options }, id: string) => {
      await confirm(
        `Revoke the operator's key ${id}? This cannot be undone. After the response every gateway rejects it.`,
        options,
      );
      return await amana.operatorKeys.revoke(id, { reason }, requestOptions());
    },
  ).option("--reason <text>", "reason in the audit trail", parseText);
}
