import type { ApiCaller } from "@amana/dev-env/demo/api";
import { checkDeliveries, type DeliveredEvents, some } from "./check-deliveries.ts";
import type { Committed } from "./emit-events.ts";

interface Letter {
  readonly id: string;
  readonly event_id: string;
  readonly status: string;
  readonly reason: string;
}

interface Found extends DeliveredEvents {
  readonly committed: Committed;
  readonly forgedIds: ReadonlySet<string>;
  readonly operator: ApiCaller;
}

/** Checks that endpoints received each committed event with one id and the same bytes, and no other event. */
export async function checkEvents(found: Found): Promise<void> {
  const { committed, forgedIds, endpoints, webhooks, report } = found;
  const good = [...committed.good.keys()];
  const arrivedIds = new Set(endpoints.flatMap(({ receiver }) => [...receiver.arrivals.keys()]));
  const others = [...arrivedIds].filter((id) => !committed.good.has(id));
  report.check("nothing else arrived: nothing forged, rolled back or unreadable", others.length === 0, () =>
    some(others.map((id) => (forgedIds.has(id) ? `${id} (forged)` : id))),
  );
  await checkDeliveries(found);

  const { rows } = await webhooks.query<{ id: string }>("select id from event");
  const kept = new Set(rows.map(({ id }) => id));
  report.check(
    "each event was kept once, and no other",
    kept.size === good.length && good.every((id) => kept.has(id)),
    () => `${kept.size} of ${good.length}`,
  );
  await checkDeadLetters(found);
}

async function checkDeadLetters({ committed, forgedIds, operator, report }: Found): Promise<void> {
  const letters = await readLetters(operator);
  const stored = letters.filter(({ event_id, status }) => status === "FORGED" || forgedIds.has(event_id));
  report.check("no forged message is stored", stored.length === 0, () => JSON.stringify(stored.slice(0, 3)));
  const deadLettered = letters.filter(({ event_id }) => committed.good.has(event_id));
  report.check("dead letters contain no valid event after the run", deadLettered.length === 0, () =>
    JSON.stringify(deadLettered.slice(0, 3)),
  );
  const byId = new Map(letters.map((letter) => [letter.event_id, letter]));
  const lost = [...committed.poisoned].filter((id) => !/RETRYING|PARKED/.test(byId.get(id)?.status ?? ""));
  report.check("what cannot be handled is there for an operator", lost.length === 0, () => some(lost));
  const notWaiting = [...committed.unknown].filter((id) => byId.get(id)?.status !== "WAITING");
  report.check("an event of an unknown type waits", notWaiting.length === 0, () => some(notWaiting));

  for (const id of committed.poisoned) {
    const letter = byId.get(id);
    if (!letter) continue;
    const path = `/api/v1/admin/dead-letters/${letter.id}`;
    const retried = await operator("POST", `${path}/retry`);
    report.check("a retry of what cannot be handled says so", retried.body["code"] === "dead_letter_failed", () => retried.text);
    const drops = await Promise.all([1, 2, 3].map(() => operator("POST", `${path}/drop`, { note: "poisoned by a test" })));
    report.check(
      "dropped, however often it is asked for",
      drops.every(({ status }) => status === 200),
      () => drops.map(({ text }) => text).join(),
    );
  }
  const afterwards = await readLetters(operator);
  const left = afterwards.filter(({ event_id }) => committed.poisoned.has(event_id));
  report.check("what was dropped is gone", left.length === 0, () => JSON.stringify(left));
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
