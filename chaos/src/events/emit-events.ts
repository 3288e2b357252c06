import { PaymentEventSchema, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { sleep, uuidv7 } from "@amana/runtime";
import { create, toBinary } from "@bufbuild/protobuf";
import type { Pool } from "pg";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";

const types = {
  PAYMENT_COMPLETED: PaymentEventType.PAYMENT_COMPLETED,
  PAYMENT_REFUNDED: PaymentEventType.PAYMENT_REFUNDED,
} as const;
export type EventType = keyof typeof types;

export interface GoodEvent {
  readonly businessId: string;
  readonly type: string;
}

/** What was committed, by the id of the event. */
export interface Committed {
  readonly good: ReadonlyMap<string, GoodEvent>;
  /** Of which no event can be made, whatever is tried. */
  readonly poisoned: ReadonlySet<string>;
  /** Of a type that no version knows yet. */
  readonly unknown: ReadonlySet<string>;
}

interface Row {
  readonly id: string;
  readonly key: string;
  readonly payload: Uint8Array;
}

const unknownType = 99 as PaymentEventType;
const poisonEvery = 15;
const unknownEvery = 15;

/**
 * Commits events of payments as the service does, some transactions rolled back, until the signal
 * or until there are so many: many keys with one event each, and a few with many. Now and then one
 * is poisoned, or of a type that comes later.
 */
export async function emitEvents(options: {
  payments: Pool;
  businessIds: readonly string[];
  eventsMax: number;
  /** Factor by which the pauses between transactions are longer. */
  pauses: number;
  random: Random;
  report: Report;
  signal: AbortSignal;
}): Promise<Committed> {
  const { payments, eventsMax, pauses, random, report, signal } = options;
  const good = new Map<string, GoodEvent>();
  const poisoned = new Set<string>();
  const unknown = new Set<string>();
  const keys = Array.from({ length: 12 }, () => ({ key: uuidv7(), businessId: random.pick(options.businessIds) }));
  let amountMinor = 0n;

  const aRow = (key: string, businessId: string, type: PaymentEventType): Row => {
    const event = create(PaymentEventSchema, {
      type,
      payment: { id: key, businessId, status: PaymentStatus.PAID, amountMinor: amountMinor++, currency: "DZD" },
    });
    return { id: uuidv7(), key, payload: toBinary(PaymentEventSchema, event) };
  };
  const aGoodOne = () => {
    const { key, businessId } = random.chance(0.5)
      ? random.pick(keys)
      : { key: uuidv7(), businessId: random.pick(options.businessIds) };
    const type: EventType = random.chance(0.5) ? "PAYMENT_COMPLETED" : "PAYMENT_REFUNDED";
    return { ...aRow(key, businessId, types[type]), businessId, type };
  };

  while (!signal.aborted && good.size < eventsMax) {
    const goodOnes = Array.from({ length: random.integer(1, 12) }, aGoodOne);
    const anId = random.pick(options.businessIds);
    const poisonedOnes = random.chance(1 / poisonEvery)
      ? [{ ...aRow(uuidv7(), anId, unknownType), payload: Buffer.from("no message at all") }]
      : [];
    const unknownOnes = random.chance(1 / unknownEvery) ? [aRow(uuidv7(), anId, unknownType)] : [];
    const rollsBack = random.chance(0.1);
    if (await commit(payments, [...goodOnes, ...poisonedOnes, ...unknownOnes], { rollsBack, report })) {
      for (const { id, businessId, type } of goodOnes) good.set(id, { businessId, type });
      for (const { id } of poisonedOnes) poisoned.add(id);
      for (const { id } of unknownOnes) unknown.add(id);
      report.count("events committed", goodOnes.length);
      report.count("events poisoned", poisonedOnes.length);
      report.count("events of an unknown type", unknownOnes.length);
    } else {
      report.count("transactions rolled back, or lost with PostgreSQL");
    }
    // What waited out an outage goes one by one where a neighbour is poisoned, so more would only
    // make the end long.
    await sleep(pauses * random.integer(50, 250), signal);
  }
  return { good, poisoned, unknown };
}

/** Answers whether they are committed, which takes as long as the database is away. */
async function commit(
  payments: Pool,
  rows: readonly Row[],
  { rollsBack, report }: { rollsBack: boolean; report: Report },
): Promise<boolean> {
  try {
    const client = await payments.connect();
    try {
      await client.query("begin");
      for (const { id, key, payload } of rows) {
        await client.query("insert into outbox (topic, key, payload, headers) values ('payments.v1', $1, $2, $3)", [
          key,
          Buffer.from(payload),
          JSON.stringify(headersOf(id)),
        ]);
      }
      await client.query(rollsBack ? "rollback" : "commit");
    } catch (error) {
      client.release(true);
      throw error;
    }
    client.release();
    // The relay hears of commits of its own process; this is another.
    if (!rollsBack) await payments.query("notify outbox").catch(() => {});
    return !rollsBack;
  } catch {
    // The answer to a commit may be what was lost.
    for (;;) {
      await sleep(200);
      const found = await payments
        .query("select 1 from outbox where headers ->> 'ce_id' = $1", [rows[0]?.id])
        .catch(() => undefined);
      if (found?.rowCount) report.count("commits whose answer was lost");
      if (found) return found.rowCount === 1;
    }
  }
}

const headersOf = (id: string) => ({
  ce_specversion: "1.0",
  ce_id: id,
  ce_type: "payments.v1.PaymentCompleted",
  ce_source: "payments",
  ce_time: new Date().toISOString(),
  "content-type": "application/protobuf",
});
