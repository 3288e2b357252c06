import { republish } from "@amana/messaging";
import { uuidv7 } from "@amana/runtime";
import type { Command } from "commander";
import { type ChangeOptions, withChangeOptions } from "../../options.ts";
import { printRows } from "../../print.ts";
import { exitCodes, Refused } from "../../refused.ts";
import { byPerson, requireUuid } from "../as.ts";
import { withServices } from "../services.ts";

interface RepublishOptions extends ChangeOptions {
  readonly topic: string;
  readonly from?: string;
  readonly to?: string;
  readonly ids?: string[];
  readonly reason?: string;
}

/** Events that a service has emitted. */
export function outbox(program: Command): void {
  const noun = program.command("outbox").description("republish: events that a service has emitted in the last three days");
  withChangeOptions(
    noun
      .command("republish")
      .description("publish events again, under their ids: consumers drop those they know. For when Kafka has lost some"),
    "outbox republish --topic payments.v1 --from 2026-11-20T08:00Z",
  )
    .requiredOption("--topic <topic>", "like payments.v1")
    .option("--from <time>", "committed from then on, like 2026-11-20T08:00Z")
    .option("--to <time>", "up to then; now unless given")
    .option("--ids <id...>", "instead of a time: these events")
    .option("--reason <text>", "for the audit trail")
    .action(republishSome);
}

async function republishSome({ topic, from, to, ids, reason, as, json, ...selection }: RepublishOptions): Promise<void> {
  if ((from === undefined) === (ids === undefined)) throw new Refused("Say which: --from and --to, or --ids.", exitCodes.usage);
  const range = ids
    ? { topic, eventIds: ids.map(requireUuid) }
    : { topic, from: timeOf("--from", from), to: to === undefined ? new Date() : timeOf("--to", to) };
  const rows = await withServices(selection, async (opened) => {
    const emitting = opened.filter(({ service }) => service.emits.includes(topic));
    if (emitting.length === 0) {
      const known = new Set(opened.flatMap(({ service }) => service.emits));
      throw new Refused(`None of these services emits ${topic}. Topics: ${[...known].join(", ") || "none"}.`);
    }
    const results: { service: string; topic: string; events: number }[] = [];
    for (const { service, orm } of emitting) {
      const which: Record<string, string> = ids
        ? { event_ids: String(ids.length) }
        : { from: String(from), to: String(to ?? "now") };
      const events = await republish(orm, range, (em) =>
        service.record(em, new Date(), {
          by: byPerson(as),
          action: "outbox.republished",
          entity: { type: "outbox", id: uuidv7() },
          after: { service: service.name, topic, ...which },
          reason,
        }),
      );
      results.push({ service: service.name, topic, events });
    }
    return results;
  });
  type Row = (typeof rows)[number];
  printRows(
    rows,
    { SERVICE: (row: Row) => row.service, TOPIC: (row: Row) => row.topic, EVENTS: (row: Row) => row.events },
    { json, none: "" },
  );
  if (!json) process.stdout.write("They are in the outbox again; the running service publishes them. It goes back three days.\n");
}

function timeOf(flag: string, text: string | undefined): Date {
  const time = new Date(text ?? "");
  if (Number.isNaN(time.getTime())) throw new Refused(`${flag} must be a time like 2026-11-20T08:00Z.`, exitCodes.usage);
  return time;
}
