import { transaction } from "@amana/database";
import type { Command } from "commander";
import { byPerson, requireUuid } from "../as.ts";
import { type ChangeOptions, withChangeOptions } from "../options.ts";
import { printRows } from "../print.ts";
import { exitCodes, Refused } from "../refused.ts";
import { withServices } from "../services.ts";

type Options = ChangeOptions & { readonly reason: string };

const outcomes = { revoked: "REVOKED", before: "was revoked before", unknown: "is not here" } as const;

/** Where the API must not be open yet: after a restore of identity. */
export function apiKeys(program: Command): void {
  const noun = program
    .command("api-keys")
    .description("keys of businesses and operators, while the API is closed after a restore of identity");
  withChangeOptions(
    noun
      .command("revoke <ids...>")
      .description("they are refused from now on; where gateways run, revoke by the API, which waits until all of them know"),
  )
    .requiredOption("--reason <text>", "for the audit trail")
    .action(revoke);
}

async function revoke(ids: string[], { json, as, reason, service = "identity", databaseUrl }: Options): Promise<void> {
  ids.forEach(requireUuid);
  const rows = await withServices({ service, databaseUrl }, async ([opened]) => {
    const revokeKey = opened?.service.revokeKey;
    if (!opened || !revokeKey) throw new Refused(`${service} has no keys; that is identity.`, exitCodes.usage);
    const by = byPerson(as);
    const results: { id: string; outcome: string }[] = [];
    for (const id of ids) {
      const outcome = await transaction(opened.orm, (em) => revokeKey(em, id, { by, reason }));
      results.push({ id, outcome: outcomes[outcome] });
    }
    return results;
  });
  type Row = (typeof rows)[number];
  printRows(rows, { KEY: ({ id }: Row) => id, OUTCOME: ({ outcome }: Row) => outcome }, { json, none: "" });
  if (rows.some(({ outcome }) => outcome === outcomes.unknown)) process.exitCode = exitCodes.refused;
}
