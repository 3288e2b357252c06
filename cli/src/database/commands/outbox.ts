import { republish } from "@amana/messaging";
import { uuidv7 } from "@amana/runtime";
import type { Command } from "commander";
import { CommandError, exitCodes } from "../../command-error.ts";
import { type ChangeOptions, withChangeOptions } from "../../options.ts";
import { appendUuid, parseTime } from "../../parsers.ts";
import { print, printRows } from "../../print.ts";
import { auditActor } from "../audit-actor.ts";
import { withServices } from "../services.ts";

interface RepublishOptions extends ChangeOptions {
  readonly topic: string;
  readonly from?: string;
  readonly to?: string;
  readonly ids?: string[];
  readonly reason?: string;
}

export function outbox(program: Command): void {
  const group = program.command("outbox").description("publish events of the last three days again");
  withChangeOptions(
    group
      .command("republish")
      .description("publish again, with the same ids, events that Kafka lost; consumers ignore events that they have processed"),
    "outbox republish --topic payments.v1",
  )
    .requiredOption("--topic <topic>", "topic of the events, for example payments.v1")
    .option(
      "--from <time>",
      "only events committed at or after this time (default: all), for example 2026-11-20T08:00Z",
      parseTime,
    )
    .option("--to <time>", "only events committed before this time (default: now)", parseTime)
    .option("--ids <id...>", "ids of events, in place of --from and --to", appendUuid)
    .option("--reason <text>", "reason in the audit trail")
    .action(republishEvents);
}

async function republishEvents({ topic, from, to, ids, reason, as, json, ...selection }: RepublishOptions): Promise<void> {
  if (ids && (from ?? to) !== undefined)
    throw new CommandError(
      "--ids cannot be combined with --from or --to. Remove --ids to select by time, or remove --from and --to.",
      exitCodes.usage,
    );
  const range = ids
    ? { topic, eventIds: ids }
    : { topic, from: new Date(from ?? 0), to: to === undefined ? new Date() : new Date(to) };
  const rows = await withServices(selection, async (databases) => {
    const emittingDatabases = databases.filter(({ service }) => service.emits.includes(topic));
    if (emittingDatabases.length === 0) {
      const topics = new Set(databases.flatMap(({ service }) => service.emits));
      throw new CommandError(
        `None of the selected services emits ${topic}. Topics of these services: ${[...topics].join(", ") || "none"}.`,
      );
    }
    const results: { service: string; topic: string; events: number }[] = [];
    for (const { service, orm } of emittingDatabases) {
      const selected: Record<string, string> = ids
        ? { event_ids: String(ids.length) }
        : { from: from ?? "oldest", to: to ?? "now" };
      const events = await republish(orm, range, (em) =>
        service.record(em, new Date(), {
          by: auditActor(as),
          action: "outbox.republished",
          entity: { type: "outbox", id: uuidv7() },
          after: { service: service.name, topic, ...selected },
          reason,
        }),
      );
      results.push({ service: service.name, topic, events });
    }
    return results;
  });
  printRows(rows, { SERVICE: ({ service }) => service, TOPIC: ({ topic }) => topic, EVENTS: ({ events }) => events }, { json });
  if (!json) print("The events are in the outbox again. The running service publishes them.");
}
