import type { ApiCaller } from "@amana/dev-env/demo/api";
import { checkDeliveries, type DeliveredEvents, summarize } from "./check-deliveries.ts";
import type { CommittedEvents } from "./emit-events.ts";

interface Letter {
  readonly id: string;
  readonly event_id: string;
  readonly status: string;
  readonly reason: string;
}

interface EventResults extends DeliveredEvents {
  readonly committed: CommittedEvents;
  readonly forgedIds: ReadonlySet<string>;
  readonly operator: ApiCaller;
}

/**
 * Checks that endpoints received each committed event with one id and the same bytes, and no other
 * event.
 */
export async function checkEvents(results: EventResults): Promise<void> {
  const { committed, forgedIds, endpoints, webhooks, report } = results;
  const valid = [...committed.valid.keys()];
  const arrivedIds = new Set(endpoints.flatMap(({ receiver }) => [...receiver.arrivals.keys()]));
  const others = [...arrivedIds].filter((id) => !committed.valid.has(id));
  report.check("no forged, rolled back or unreadable event arrived", others.length === 0, () =>
    summarize(others.map((id) => (forgedIds.has(id) ? `${id} (forged)` : id))),
  );
  await checkDeliveries(results);

  const { rows } = await webhooks.query<{ id: string }>("select id from event");
  const stored = new Set(rows.map(({ id }) => id));
  report.check(
    "each event is stored once, and no other event",
    stored.size === valid.length && valid.every((id) => stored.has(id)),
    () => `${stored.size} of ${valid.length}`,
  );
  await checkDeadLetters(results);
}

async function checkDeadLetters({ committed, forgedIds, operator, report }: EventResults): Promise<void> {
  const letters = await readLetters(operator);
  const forged = letters.filter(({ event_id, status }) => status === "FORGED" || forgedIds.has(event_id));
  report.check("no forged message is stored", forged.length === 0, () => JSON.stringify(forged.slice(0, 3)));
  const deadLettered = letters.filter(({ event_id }) => committed.valid.has(event_id));
  report.check("dead letters contain no valid event after the run", deadLettered.length === 0, () =>
    JSON.stringify(deadLettered.slice(0, 3)),
  );
  const byId = new Map(letters.map((letter) => [letter.event_id, letter]));
  const lost = [...committed.poisoned].filter((id) => !/RETRYING|PARKED/.test(byId.get(id)?.status ?? ""));
  report.check("a message that cannot be handled becomes a dead letter", lost.length === 0, () => summarize(lost));
  const notWaiting = [...committed.unknown].filter((id) => byId.get(id)?.status !== "WAITING");
  report.check("an event of an unknown type has status WAITING", notWaiting.length === 0, () => summarize(notWaiting));

  for (const id of committed.poisoned) {
    const letter = byId.get(id);
    if (!letter) continue;
    const path = `/api/v1/admin/dead-letters/${letter.id}`;
    const retried = await operator("POST", `${path}/retry`);
    report.check(
      "a retry of a poisoned message returns dead_letter_failed",
      retried.body["code"] === "dead_letter_failed",
      () => retried.text,
    );
    const drops = await Promise.all([1, 2, 3].map(() => operator("POST", `${path}/drop`, { note: "poisoned by a test" })));
    report.check(
      "repeated drops of a dead letter succeed",
      drops.every(({ status }) => status === 200),
      () => drops.map(({ text }) => text).join(),
    );
  }
  const afterwards = await readLetters(operator);
  const left = afterwards.filter(({ event_id }) => committed.poisoned.has(event_id));
  report.check("a dropped dead letter is deleted", left.length === 0, () => JSON.stringify(left));
}

async function readLetters(operator: ApiCaller): Promise<Letter[]> {
  const letters: Letter[] = [];
  for (let offset = 0; ; offset += 100) {
    const { text } = await operator("GET", `/api/v1/admin/dead-letters?service=webhooks&limit=100&offset=${offset}`);
    const page = JSON.parse(text) as Letter[];
    letters.push(...page);
    if (page.length < 100) return letters;
  }
}
