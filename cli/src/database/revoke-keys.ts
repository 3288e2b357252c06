import { transaction } from "@amana/database";
import type { ChangeOptions } from "../options.ts";
import { printRows } from "../print.ts";
import { exitCodes, Refused } from "../refused.ts";
import { byPerson } from "./as.ts";
import { withServices } from "./services.ts";

const outcomes = { revoked: "REVOKED", before: "was revoked before", unknown: "is not here" } as const;

/** Where the API must not be open yet: after a restore of identity. */
export async function revokeKeys(
  ids: string[],
  { json, as, reason, service = "identity", databaseUrl }: ChangeOptions & { readonly reason?: string },
): Promise<void> {
  if (!reason) throw new Refused("--reason must say why: it stands in the audit trail.", exitCodes.usage);
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
  printRows(rows, { KEY: ({ id }) => id, OUTCOME: ({ outcome }) => outcome }, { json, none: "" });
  if (rows.some(({ outcome }) => outcome === outcomes.unknown)) process.exitCode = exitCodes.refused;
}
