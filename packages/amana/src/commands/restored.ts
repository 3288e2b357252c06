import { transaction } from "@amana/database";
import { uuidv7 } from "@amana/runtime";
import type { Command } from "commander";
import { byPerson } from "../as.ts";
import { type ChangeOptions, withChangeOptions } from "../options.ts";
import { printRows } from "../print.ts";
import { exitCodes, Refused } from "../refused.ts";
import type { Difference } from "../repaired-service.ts";
import { type Opened, withServices } from "../services.ts";

const pageRows = 1_000;
/** Clocks of processes, whose times event ids begin with, may differ by so much. */
const marginMs = 60_000;

/** What a restored service has forgotten, as far as others know. */
export function restored(program: Command): void {
  withChangeOptions(
    program
      .command("restored")
      .description(
        "after payments was restored: what webhooks was told and payments has forgotten; what is older is looked at again",
      ),
    "restored --since 2026-11-20T08:00:00Z",
  )
    .requiredOption("--since <time>", "to which payments was restored, like 2026-11-20T08:00:00Z")
    .action(showForgotten);
}

async function showForgotten({ since, as, json, ...selection }: ChangeOptions & { since: string }): Promise<void> {
  const from = new Date(since);
  if (Number.isNaN(from.getTime())) throw new Refused("--since must be a time like 2026-11-20T08:00:00Z.", exitCodes.usage);
  const rows = await withServices({ ...selection, needed: ["payments", "webhooks"] }, async (opened) => {
    const [forgetful, witness] = ["payments", "webhooks"].map((name) => opened.find(({ service }) => service.name === name));
    if (!forgetful || !witness) throw new Refused("This needs the databases of payments and of webhooks.", exitCodes.unreachable);
    return await compareAll(forgetful, witness, from, as);
  });
  printRows(
    rows,
    {
      PAYMENT: (row: Difference) => row.id,
      HERE: (row: Difference) => row.here,
      TOLD: (row: Difference) => row.status,
      BUSINESS: (row: Difference) => row.businessId,
      DETAILS: (row: Difference) => row.details,
    },
    { json, none: "Nothing that webhooks was told is missing or older in payments." },
  );
  if (rows.length > 0 && process.exitCode === undefined) process.exitCode = exitCodes.found;
  if (json || rows.length === 0) return;
  process.stdout.write(`
Those that are here are read again at the processor within seconds: run this again, and they are gone from the list.
The unknown were paid or ended after that time: nobody here can refund them. Compare with the processor's list of orders, and give
back there, or agree with the business, what is owed (docs/restore.md).\n`);
}

/** Page by page; of things that were told of on several pages the last counts. */
async function compareAll({ service, orm }: Opened, witness: Opened, from: Date, as: string): Promise<Difference[]> {
  const found = new Map<string, Difference>();
  let after = firstIdOf(from.getTime() - marginMs);
  for (;;) {
    const heard = (await witness.service.heard?.(witness.orm.em.fork(), after, pageRows)) ?? [];
    const last = heard.at(-1);
    if (!last) return [...found.values()];
    after = last.eventId;
    const differences = await transaction(orm, async (em) => {
      const differing = (await service.compare?.(em, heard)) ?? [];
      if (differing.length > 0) {
        service.record(em, new Date(), {
          by: byPerson(as),
          action: "payments.looked_at_again",
          entity: { type: "restore", id: uuidv7() },
          after: { since: from.toISOString(), payments: String(differing.length) },
        });
      }
      return differing;
    });
    for (const { id } of heard) found.delete(id);
    for (const difference of differences) found.set(difference.id, difference);
  }
}

/** Ids of events begin with their time (UUIDv7): the lowest of a time. */
function firstIdOf(ms: number): string {
  const hex = ms.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
