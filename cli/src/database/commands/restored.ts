import { transaction } from "@amana/database";
import { uuidv7 } from "@amana/runtime";
import type { ConsumedEvent, Difference } from "@amana/service-host";
import { Argument, type Command } from "commander";
import { type ChangeOptions, withChangeOptions } from "../../options.ts";
import { printRows } from "../../print.ts";
import { exitCodes, Refused } from "../../refused.ts";
import { byPerson } from "../as.ts";
import { type OpenDatabase, withServices } from "../services.ts";

const pageRows = 1_000;
/** Clocks of processes, whose times event ids begin with, may differ by so much. */
const marginMs = 60_000;

const advice = {
  payments: `
Payments with a status HERE are read again at the processor within seconds. Run the command again to see what is left.
Unknown payments were paid or ended after that time and cannot be refunded here. Compare them with the processor's list of orders, and
refund them there or agree with the business (docs/restore.md).\n`,
  kyc: `
Applications with a status HERE are read again at the provider within seconds. Run the command again to see what is left.
NEEDS_REVIEW here and APPROVED or REJECTED in webhooks: the restore lost an operator's decision. KYC_NEEDS_REVIEW is emitted again.
Decide again with: amana kyc review ID. Unknown applications were created after that time: the business creates new ones
(docs/restore.md).\n`,
};

/** Lists the rows that a restored service has lost, by the events that webhooks received. */
export function restored(program: Command): void {
  withChangeOptions(
    program
      .command("restored")
      .description("list rows that webhooks got events about and a restored service has lost; read rows that differ again")
      .addArgument(new Argument("[restored]", "the service that was restored").choices(Object.keys(advice)).default("payments")),
    "restored kyc --since 2026-11-20T08:00:00Z",
  )
    .requiredOption("--since <time>", "the time to which the service was restored, like 2026-11-20T08:00:00Z")
    .action(showForgotten);
}

type Options = ChangeOptions & { since: string };

async function showForgotten(name: keyof typeof advice, { since, as, json, ...selection }: Options): Promise<void> {
  const from = new Date(since);
  if (Number.isNaN(from.getTime())) throw new Refused("--since must be a time like 2026-11-20T08:00:00Z.", exitCodes.usage);
  const rows = await withServices({ ...selection, needed: [name, "webhooks"] }, async (opened) => {
    const [forgetful, witness] = [name, "webhooks"].map((one) => opened.find(({ service }) => service.name === one));
    if (!forgetful || !witness)
      throw new Refused(`The command needs the databases of ${name} and webhooks.`, exitCodes.unreachable);
    return await compareAll(forgetful, witness, from, as);
  });
  printRows(
    rows,
    {
      [name === "kyc" ? "APPLICATION" : "PAYMENT"]: (row: Difference) => row.id,
      HERE: (row: Difference) => row.here,
      TOLD: (row: Difference) => row.status,
      BUSINESS: (row: Difference) => row.businessId,
      DETAILS: (row: Difference) => row.details,
    },
    { json, none: `No row that webhooks got events about is missing or older in ${name}.` },
  );
  if (rows.length > 0 && process.exitCode === undefined) process.exitCode = exitCodes.found;
  if (json || rows.length === 0) return;
  process.stdout.write(advice[name]);
}

/** Compares each row with its newest event only: an earlier event differs from the row anyway. */
async function compareAll({ service, orm }: OpenDatabase, witness: OpenDatabase, from: Date, as: string): Promise<Difference[]> {
  const newest = await newestHeard(service.name, witness, from);
  const found: Difference[] = [];
  for (let start = 0; start < newest.length; start += pageRows) {
    const page = newest.slice(start, start + pageRows);
    const differences = await transaction(orm, async (em) => {
      const differing = (await service.compare?.(em, page)) ?? [];
      if (differing.length > 0) {
        service.record(em, new Date(), {
          by: byPerson(as),
          action: `${service.name}.looked_at_again`,
          entity: { type: "restore", id: uuidv7() },
          after: { since: from.toISOString(), [service.name]: String(differing.length) },
        });
      }
      return differing;
    });
    found.push(...differences);
  }
  return found;
}

async function newestHeard(name: string, witness: OpenDatabase, from: Date): Promise<ConsumedEvent[]> {
  const newest = new Map<string, ConsumedEvent>();
  let after = firstIdOf(from.getTime() - marginMs);
  for (;;) {
    const heard = (await witness.service.consumedEvents?.(witness.orm.em.fork(), name, after, pageRows)) ?? [];
    const last = heard.at(-1);
    if (!last) return [...newest.values()];
    after = last.eventId;
    for (const one of heard) newest.set(one.id, one);
  }
}

/** Ids of events begin with their time (UUIDv7): the lowest of a time. */
function firstIdOf(ms: number): string {
  const hex = ms.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
