import { PaymentEventSchema, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { PaymentStatus } from "@amana/contracts/payments/v1/payment_pb";
import { sleep, uuidv7 } from "@amana/runtime";
import { create, toBinary } from "@bufbuild/protobuf";
import type { Pool } from "pg";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";

/**
 * What was committed, by the id of the event; the values of `good` are what orders them within a
 * key.
 */
export interface Committed {
  readonly good: Map<string, { key: string; place: number }>;
  /** Of which no event can be made, whatever is tried. */
  readonly poisoned: Set<string>;
  /** Of a type that no version knows yet. */
  readonly unknown: Set<string>;
}

const unknownType = 99 as PaymentEventType;
const poisonEvery = 15;
const unknownEvery = 15;

/**
 * Commits events of payments as the service does, some transactions rolled back, until the signal:
 * many keys with one event each, and a few with many. Now and then one is poisoned, or of a type
 * that comes later.
 */
export async function emitEvents(options: {
  payments: Pool;
  businessId: string;
  random: Random;
  report: Report;
  signal: AbortSignal;
}): Promise<Committed> {
  const { payments, businessId, random, report, signal } = options;
  const committed: Committed = { good: new Map(), poisoned: new Set(), unknown: new Set() };
  const keys = Array.from({ length: 12 }, () => uuidv7());
  let place = 0;

  const aRow = (key: string, type: PaymentEventType, payload?: Uint8Array) => {
    const event = create(PaymentEventSchema, {
      type,
      payment: { id: key, businessId, status: PaymentStatus.PAID, amountMinor: BigInt(place), currency: "DZD" },
    });
    const headers = {
      ce_specversion: "1.0",
      ce_id: uuidv7(),
      ce_type: "payments.v1.PaymentCompleted",
      ce_source: "payments",
      ce_time: new Date().toISOString(),
      "content-type": "application/protobuf",
    };
    return { key, headers, payload: payload ?? toBinary(PaymentEventSchema, event) };
  };

  while (!signal.aborted) {
    const good = Array.from({ length: random.integer(1, 12) }, () => {
      const row = aRow(random.chance(0.5) ? random.pick(keys) : uuidv7(), PaymentEventType.PAYMENT_COMPLETED);
      return { ...row, place: place++ };
    });
    const poisoned = random.chance(1 / poisonEvery) ? [aRow(uuidv7(), unknownType, Buffer.from("no message at all"))] : [];
    const unknown = random.chance(1 / unknownEvery) ? [aRow(uuidv7(), unknownType)] : [];
    const rollsBack = random.chance(0.1);
    const client = await payments.connect();
    try {
      await client.query("begin");
      for (const { key, headers, payload } of [...good, ...poisoned, ...unknown]) {
        await client.query("insert into outbox (topic, key, payload, headers) values ('payments.v1', $1, $2, $3)", [
          key,
          Buffer.from(payload),
          JSON.stringify(headers),
        ]);
      }
      await client.query(rollsBack ? "rollback" : "commit");
    } finally {
      client.release();
    }
    if (rollsBack) {
      report.count("transactions rolled back");
    } else {
      for (const { headers, key, place: at } of good) committed.good.set(headers.ce_id, { key, place: at });
      for (const { headers } of poisoned) committed.poisoned.add(headers.ce_id);
      for (const { headers } of unknown) committed.unknown.add(headers.ce_id);
      report.count("events committed", good.length);
      report.count("events poisoned", poisoned.length);
      report.count("events of an unknown type", unknown.length);
    }
    // What waited out an outage goes one by one where a neighbour is poisoned, so more would only
    // make the end long.
    await sleep(random.integer(50, 250), signal);
  }
  return committed;
}
