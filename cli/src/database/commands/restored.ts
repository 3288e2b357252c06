import { transaction } from "@amana/database";
import { uuidv7 } from "@amana/runtime";
import type { ConsumedEvent, Difference } from "@amana/service-host";
import { Argument, type Command } from "commander";
import { CommandError, exitCodes } from "../../command-error.ts";
import { type ChangeOptions, withChangeOptions } from "../../options.ts";
import { parseTime } from "../../parsers.ts";
import { printRows } from "../../print.ts";
import { auditActor } from "../audit-actor.ts";
import { type OpenDatabase, withServices } from "../services.ts";

const pageRows = 1_000;
/**
 * Maximum difference between the clocks of two processes. Event ids contain the clock time of the
 * process that created them.
 */
const clockSkewMs = 60_000;

const nextSteps = {
  payments: `
The payments service reads payments with a status in the column HERE again at the processor within seconds.
Run the command again to list the payments that still differ.
Payments with "unknown" in the column HERE were paid or ended after the --since time, and Amana cannot refund them.
Compare them with the processor's list of orders. Then refund them at the processor, or agree on a solution with the
business (docs/restore.md).\n`,
  kyc: `
The kyc service reads applications with a status in the column HERE again at the provider within seconds.
Run the command again to list the applications that still differ.
If HERE is NEEDS_REVIEW and WEBHOOKS is APPROVED or REJECTED, the restore lost an operator's decision, and kyc emits
KYC_NEEDS_REVIEW again. Repeat the decision with: amana kyc review ID
Applications with "unknown" in the column HERE were created after the --since time. The business must create new applications
(docs/restore.md).\n`,
};

/** Adds `restored`, which finds a restored service's lost rows through the events in webhooks. */
export function restored(program: Command): void {
  withChangeOptions(
    program
      .command("restored")
      .description(
        "compare a restored service with the events in webhooks: list lost rows and schedule reads of rows that differ",
      )
      .addArgument(new Argument("[service]", "the restored service").choices(Object.keys(nextSteps)).default("payments")),
    "restored kyc --since 2026-11-20T08:00:00Z",
  )
    .requiredOption("--since <time>", "time to which the service was restored, for example 2026-11-20T08:00:00Z", parseTime)
    .action(showLostRows);
}

type Options = ChangeOptions & { since: string };

async function showLostRows(name: keyof typeof nextSteps, { since, as, json, ...selection }: Options): Promise<void> {
  const from = new Date(since);
  const rows = await withServices({ ...selection, usableServices: [name, "webhooks"] }, async (databases) => {
    const [restoredService, webhooks] = [name, "webhooks"].map((wanted) =>
      databases.find(({ service }) => service.name === wanted),
    );
    if (!restoredService || !webhooks)
      throw new CommandError(
        `The databases of ${name} and webhooks must both respond. Start them and run the command again.`,
        exitCodes.unreachable,
      );
    return await compareAll(restoredService, webhooks, from, as);
  });
  printRows(
    rows,
    {
      [name === "kyc" ? "APPLICATION" : "PAYMENT"]: ({ id }) => id,
      HERE: ({ here }) => here,
      WEBHOOKS: ({ status }) => status,
      BUSINESS: ({ businessId }) => businessId,
      DETAILS: ({ details }) => details,
    },
    { json, emptyText: `No row of ${name} is missing or differs from its newest event in webhooks.` },
  );
  if (rows.length > 0 && process.exitCode === undefined) process.exitCode = exitCodes.actionNeeded;
  if (json || rows.length === 0) return;
  process.stdout.write(nextSteps[name]);
}

/**
 * Compares each row only with its newest event, because a correct row also differs from its earlier
 * events.
 */
async function compareAll({ service, orm }: OpenDatabase, webhooks: OpenDatabase, from: Date, as: string): Promise<Difference[]> {
  const newest = await newestEvents(service.name, webhooks, from);
  const allDifferences: Difference[] = [];
  for (let start = 0; start < newest.length; start += pageRows) {
    const page = newest.slice(start, start + pageRows);
    const differences = await transaction(orm, async (em) => {
      const differing = (await service.findDifferences?.(em, page)) ?? [];
      if (differing.length > 0) {
        service.record(em, new Date(), {
          by: auditActor(as),
          action: `${service.name}.looked_at_again`,
          entity: { type: "restore", id: uuidv7() },
          after: { since: from.toISOString(), [service.name]: String(differing.length) },
        });
      }
      return differing;
    });
    allDifferences.push(...differences);
  }
  return allDifferences;
}

async function newestEvents(name: string, webhooks: OpenDatabase, from: Date): Promise<ConsumedEvent[]> {
  const newest = new Map<string, ConsumedEvent>();
  let after = firstIdOf(from.getTime() - clockSkewMs);
  for (;;) {
    const consumed = (await webhooks.service.consumedEvents?.(webhooks.orm.em.fork(), name, after, pageRows)) ?? [];
    const lastEvent = consumed.at(-1);
    if (!lastEvent) return [...newest.values()];
    after = lastEvent.eventId;
    for (const event of consumed) newest.set(event.id, event);
  }
}

/** Returns the lowest possible UUIDv7 of a time. An event id begins with the event's time. */
function firstIdOf(ms: number): string {
  const hex = ms.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
