import type { ApiCaller } from "@amana/dev-env/demo/api";
import { checkDeliveries, type DeliveredEvents, summarize } from "./check-deliveries.ts";
import type { CommittedEvents } from "./emit-events.ts";

interface DeadLetter {
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
  const unexpectedIds = [...arrivedIds].filter((id) => !committed.valid.has(id));
  report.check("endpoints received no forged, rolled back or unreadable event", unexpectedIds.length === 0, () =>
    summarize(unexpectedIds.map((id) => (forgedIds.has(id) ? `${id} (forged)` : id))),
  );
  await checkDeliveries(results);

  const { rows } = await webhooks.query<{ id: string }>("select id from event");
  const stored = new Set(rows.map(({ id }) => id));
  report.check(
    "webhooks stores each committed event once, and no other event",
    stored.size === valid.length && valid.every((id) => stored.has(id)),
    () => `${stored.size} of ${valid.length}`,
  );
  await checkDeadLetters(results);
}

async function checkDeadLetters({ committed, forgedIds, operator, report }: EventResults): Promise<void> {
  const deadLetters = await readDeadLetters(operator);
  const forged = deadLetters.filter(({ event_id, status }) => status === "FORGED" || forgedIds.has(event_id));
  report.check("no forged message is stored", forged.length === 0, () => JSON.stringify(forged.slice(0, 3)));
  const validDeadLetters = deadLetters.filter(({ event_id }) => committed.valid.has(event_id));
  report.check("consumers have dead-lettered no valid event after the run", validDeadLetters.length === 0, () =>
    JSON.stringify(validDeadLetters.slice(0, 3)),
  );
  const byId = new Map(deadLetters.map((deadLetter) => [deadLetter.event_id, deadLetter]));
  const missing = [...committed.poisoned].filter((id) => !/RETRYING|PARKED/.test(byId.get(id)?.status ?? ""));
  report.check("a message that cannot be decoded is dead-lettered", missing.length === 0, () => summarize(missing));
  const notWaiting = [...committed.unknown].filter((id) => byId.get(id)?.status !== "WAITING");
  report.check("an event of an unknown type has status WAITING", notWaiting.length === 0, () => summarize(notWaiting));

  for (const id of committed.poisoned) {
    const deadLetter = byId.get(id);
    if (!deadLetter) continue;
    const path = `/api/v1/admin/dead-letters/${deadLetter.id}`;
    const retried = await operator("POST", `${path}/retry`);
    report.check(
      "a retry of a poisoned message returns dead_letter_failed",
      retried.body["code"] === "dead_letter_failed",
      () => retried.text,
    );
    const drops = await Promise.all([1, 2, 3].map(() => operator("POST", `${path}/drop`, { note: "poisoned by a test" })));
    report.check(
      "repeated drops of a dead-lettered message succeed",
      drops.every(({ status }) => status === 200),
      () => drops.map(({ text }) => text).join(),
    );
  }
  const remaining = await readDeadLetters(operator);
  const notDropped = remaining.filter(({ event_id }) => committed.poisoned.has(event_id));
  report.check("the API does not list a dead-lettered message that an operator has dropped", notDropped.length === 0, () =>
    JSON.stringify(notDropped),
  );
}

async function readDeadLetters(operator: ApiCaller): Promise<DeadLetter[]> {
  const deadLetters: DeadLetter[] = [];
  for (let offset = 0; ; offset += 100) {
    const { text } = await operator("GET", `/api/v1/admin/dead-letters?service=webhooks&limit=100&offset=${offset}`);
    const page = JSON.parse(text) as DeadLetter[];
    deadLetters.push(...page);
    if (page.length < 100) return deadLetters;
  }
}
