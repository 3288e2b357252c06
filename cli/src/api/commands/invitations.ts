import type { Invitation } from "@amana/client";
import type { Command } from "commander";
import { confirm } from "../../ask.ts";
import { type Columns, localTime } from "../../print.ts";
import { apiCommand, timeFrom, wordsFrom } from "../api-command.ts";
import type { ApiOptions } from "../connect.ts";
import { type ListOptions, showList, showOne, withListOptions } from "../show.ts";

const columns: Columns<Invitation> = {
  ID: ({ id }) => id,
  STATUS: statusOf,
  FOR: { of: ({ name }) => name, min: 10 },
  TOKEN: { of: ({ token_prefix }) => token_prefix, spare: 2 },
  EXPIRES: { of: ({ expires_at }) => localTime(expires_at), spare: 1 },
};

function statusOf({ used_at, revoked_at, expires_at }: Invitation): string {
  if (used_at) return "USED";
  if (revoked_at) return "REVOKED";
  return new Date(expires_at).getTime() > Date.now() ? "OPEN" : "EXPIRED";
}

const key = ["operator"] as const;
const ask = () => "invitations list";

/** With which businesses register themselves. */
export function invitations(program: Command): void {
  const noun = program.command("invitations").description("create, list, revoke: with one a business registers itself");
  apiCommand<ApiOptions & { readonly name: string; readonly expiresAt?: string }>(
    noun,
    "create",
    { says: "a new one, whose token is shown once", example: 'invitations create --name "Pâtisserie du Port"', key, ask },
    async ({ amana, call }, { name, expiresAt, ...options }) =>
      showOne(await amana.invitations.create({ name, ...(expiresAt && { expires_at: expiresAt }) }, call()), options),
  )
    .requiredOption("--name <name>", "whom it is for", wordsFrom)
    .option("--expires-at <time>", "at most 30 days ahead; 7 days unless given", timeFrom);
  withListOptions(
    apiCommand<ListOptions>(
      noun,
      "list",
      { says: "invitations, newest first", example: "invitations list", key },
      (api, options) =>
        showList(api, options, { columns, none: "Nobody was invited yet." }, (page) =>
          api.amana.invitations.list(page, api.call()),
        ),
    ),
  );
  apiCommand(
    noun,
    "revoke <id>",
    { says: "nobody can register with it any more", example: "invitations revoke 0199…", key, ask, asksFirst: true },
    async ({ amana, call }, options, id: string) => {
      await confirm(`Revoke the invitation ${id}? A business that was registered with it stays.`, options);
      showOne(await amana.invitations.revoke(id, call()), options);
    },
  );
}
