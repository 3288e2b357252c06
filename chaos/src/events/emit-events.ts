import { PaymentEventSchema, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { sleep, uuidv7 } from "@amana/runtime";
import { create, toBinary } from "@bufbuild/protobuf";
import type { Pool } from "pg";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";

const eventTypes = {
  PAYMENT_COMPLETED: PaymentEventType.PAYMENT_COMPLETED,
  PAYMENT_REFUNDED: PaymentEventType.PAYMENT_REFUNDED,
} as const;
export type EventType = keyof typeof eventTypes;

export interface ValidEvent {
  readonly businessId: string;
  readonly type: string;
}

/** Ids of committed messages. */
export interface CommittedEvents {
  /** Valid events by id. */
  readonly valid: ReadonlyMap<string, ValidEvent>;
  /** Messages that can never be decoded. */
  readonly poisoned: ReadonlySet<string>;
  /** Messages of a type that no version handles yet. */
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
 * Commits events to the outbox of payments until `signal` is aborted or `eventsMax` events are
 * committed. Most keys have one event, a few keys have many. Some transactions are rolled back.
 * Some events are poisoned or have an unknown type.
 */
export async function emitEvents(options: {
  payments: Pool;
  businessIds: readonly string[];
  eventsMax: number;
  /** Factor by which the pauses between transactions are multiplied. */
  pauseFactor: number;
  random: Random;
  report: Report;
  signal: AbortSignal;
}): Promise<CommittedEvents> {
  const { payments, eventsMax, pauseFactor, random, report, signal } = options;
  const valid = new Map<string, ValidEvent>();
  const poisoned = new Set<string>();
  const unknown = new Set<string>();
  const keys = Array.from({ length: 12 }, () => ({ key: uuidv7(), businessId: random.pick(options.businessIds) }));
  let amountMinor = 0n;

  const createRow = (key: string, businessId: string, type: PaymentEventType): Row => {
    const event = create(PaymentEventSchema, {
      type,
      payment: { id: key, businessId, status: PaymentStatus.PAID, amountMinor: amountMinor++, currency: "DZD" },
    });
    return { id: uuidv7(), key, payload: toBinary(PaymentEventSchema, event) };
  };
  const createValidRow = () => {
    const { key, businessId } = random.chance(0.5)
      ? random.pick(keys)
      : { key: uuidv7(), businessId: random.pick(options.businessIds) };
    const type: EventType = random.chance(0.5) ? "PAYMENT_COMPLETED" : "PAYMENT_REFUNDED";
    return { ...createRow(key, businessId, eventTypes[type]), businessId, type };
  };

  while (!signal.aborted && valid.size < eventsMax) {
    const validRows = Array.from({ length: random.integer(1, 12) }, createValidRow);
    const businessId = random.pick(options.businessIds);
    const poisonedRows = random.chance(1 / poisonEvery)
      ? [{ ...createRow(uuidv7(), businessId, unknownType), payload: Buffer.from("not a protobuf message") }]
      : [];
    const unknownRows = random.chance(1 / unknownEvery) ? [createRow(uuidv7(), businessId, unknownType)] : [];
    const rollsBack = random.chance(0.1);
    if (await commit(payments, [...validRows, ...poisonedRows, ...unknownRows], { rollsBack, report })) {
      for (const { id, businessId, type } of validRows) valid.set(id, { businessId, type });
      for (const { id } of poisonedRows) poisoned.add(id);
      for (const { id } of unknownRows) unknown.add(id);
      report.count("events committed", validRows.length);
      report.count("events poisoned", poisonedRows.length);
      report.count("events of an unknown type", unknownRows.length);
    } else {
      report.count("transactions rolled back or lost in a stop of PostgreSQL");
    }
    // Limits the rate of events. webhooks handles the messages of a batch one by one if the batch
    // contains a poisoned message. A larger backlog after an outage would make the run longer.
    await sleep(pauseFactor * random.integer(50, 250), signal);
  }
  return { valid, poisoned, unknown };
}

/** Inserts the rows. Waits while the database is down. Returns true if the rows are committed. */
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
    // Notifies the relay, because only commits of the payments process notify it automatically.
    if (!rollsBack) await payments.query("notify outbox").catch(() => {});
    return !rollsBack;
  } catch {
    // The commit may have succeeded although its response was lost.
    for (;;) {
      await sleep(200);
      const result = await payments
        .query("select 1 from outbox where headers ->> 'ce_id' = $1", [rows[0]?.id])
        .catch(() => undefined);
      if (result?.rowCount) report.count("commits whose response was lost");
      if (result) return result.rowCount === 1;
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
