import type { Invitation } from "@amana/client";
import type { Command } from "commander";
import { confirm } from "../../confirm.ts";
import { parseText, parseTime } from "../../parsers.ts";
import { type Columns, localTime } from "../../print.ts";
import { apiCommand } from "../api-command.ts";
import type { ApiOptions } from "../connect.ts";
import { listCommand } from "../list-command.ts";

const columns: Columns<Invitation> = {
  ID: ({ id }) => id,
  STATUS: statusOf,
  FOR: { cellOf: ({ name }) => name, minWidth: 10 },
  TOKEN: { cellOf: ({ token_prefix }) => token_prefix, omitOrder: 2 },
  EXPIRES: { cellOf: ({ expires_at }) => localTime(expires_at), omitOrder: 1 },
};

function statusOf({ used_at, revoked_at, expires_at }: Invitation): string {
  if (used_at) return "USED";
  if (revoked_at) return "REVOKED";
  return new Date(expires_at).getTime() > Date.now() ? "OPEN" : "EXPIRED";
}

const key = ["operator"] as const;
const statusCommand = () => "invitations list";

export function invitations(program: Command): void {
  const group = program.command("invitations").description("create, list or revoke invitations, with which businesses register");
  apiCommand<ApiOptions & { readonly name: string; readonly expiresAt?: string }>(
    group,
    "create",
    {
      summary: "create an invitation and print its token once",
      example: 'invitations create --name "Pâtisserie du Port"',
      key,
      statusCommand,
    },
    ({ amana, requestOptions }, { name, expiresAt }) =>
      amana.invitations.create({ name, expires_at: expiresAt }, requestOptions()),
  )
    .requiredOption("--name <name>", "name of the invited business", parseText)
    .option("--expires-at <time>", "time at which the invitation expires, at most 30 days ahead (default: in 7 days)", parseTime);
  listCommand(
    group,
    "list",
    {
      summary: "list invitations, newest first",
      example: "invitations list",
      key,
      columns,
      emptyText: "No invitations found.",
    },
    ({ amana, requestOptions }, page) => amana.invitations.list(page, requestOptions()),
  );
  apiCommand(
    group,
    "revoke <id>",
    { summary: "revoke an invitation", example: "invitations revoke 0199…", key, statusCommand, needsConfirmation: true },
    async ({ amana, requestOptions }, options, id: string) => {
      await confirm(`Revoke the invitation ${id}? A business that has registered with it is not affected.`, options);
      return await amana.invitations.revoke(id, requestOptions());
    },
  );
}
