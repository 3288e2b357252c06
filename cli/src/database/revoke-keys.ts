import { transaction } from "@amana/database";
import { CommandError, exitCodes } from "../command-error.ts";
import type { ChangeOptions } from "../options.ts";
import { printRows } from "../print.ts";
import { auditActor } from "./audit-actor.ts";
import { withServices } from "./services.ts";

const outcomes = { revoked: "REVOKED", before: "already revoked", unknown: "not found" } as const;

/**
 * Revokes keys directly in the database. Operators use it after a restore of identity, before they
 * start the gateway.
 */
export async function revokeKeys(
  ids: string[],
  { json, as, reason, service = "identity", databaseUrl }: ChangeOptions & { readonly reason?: string },
): Promise<void> {
  if (!reason) throw new CommandError("--reason is required, because the audit trail contains the reason.", exitCodes.usage);
  const rows = await withServices({ service, databaseUrl }, async ([database]) => {
    const { revokeKey } = database.service;
    if (!revokeKey) throw new CommandError(`${service} has no keys. Use --service identity or omit it.`, exitCodes.usage);
    const by = auditActor(as);
    const results: { id: string; outcome: string }[] = [];
    for (const id of ids) {
      const outcome = await transaction(database.orm, (em) => revokeKey(em, id, { by, reason }));
      results.push({ id, outcome: outcomes[outcome] });
    }
    return results;
  });
  printRows(rows, { KEY: ({ id }) => id, OUTCOME: ({ outcome }) => outcome }, { json });
  if (rows.some(({ outcome }) => outcome === outcomes.unknown)) process.exitCode = exitCodes.failed;
}
