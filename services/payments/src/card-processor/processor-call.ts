import type { EnumName } from "@amana/contracts/enum-names";
import type * as proto from "@amana/contracts/payments/v1/refund_service_pb";
import { defineEntity, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import type { CardProcessor, OrderState, Outcome } from "./card-processor.ts";

type Operation = EnumName<typeof proto.ProcessorOperation>;

const schema = defineEntity({
  name: "ProcessorCall",
  tableName: "processor_call",
  properties: {
    id: p.uuid().primary(),
    businessId: p.uuid(),
    paymentId: p.uuid(),
    refundId: p.uuid().nullable(),
    operation: p.text().$type<Operation>(),
    outcome: p.text().$type<EnumName<typeof proto.ProcessorOutcome>>(),
    detail: p.text().nullable(),
    at: p.datetime(3),
    durationMs: p.integer(),
  },
});

/**
 * A call to the processor and its outcome. Rows are never updated. They are deleted after 30 days.
 */
export class ProcessorCall extends schema.class {}
schema.setClass(ProcessorCall);

/** A finished call that is not inserted yet. */
export interface FinishedCall extends Pick<ProcessorCall, "operation" | "outcome" | "detail" | "durationMs"> {
  /** `performance.now()` at the start of the call. */
  readonly startMs: number;
}

const detailCharactersMax = 200;

/**
 * Returns a processor that adds each finished call to `calls`. The transaction that records the
 * outcome inserts these calls.
 */
export function collectCalls(processor: CardProcessor, calls: FinishedCall[]): CardProcessor {
  const collect =
    <A extends unknown[], T extends { readonly kind: string }>(operation: Operation, call: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      const startMs = performance.now();
      const outcome = await call(...args);
      const durationMs = Math.round(performance.now() - startMs);
      calls.push({ operation, startMs, durationMs, ...toColumns(outcome as unknown as CallOutcome) });
      return outcome;
    };
  return {
    ...processor,
    register: collect("REGISTER", processor.register),
    confirm: collect("CONFIRM", processor.confirm),
    status: collect("STATUS", processor.status),
    refund: collect("REFUND", processor.refund),
  };
}

type CallOutcome = Outcome<Partial<OrderState> | null> | { readonly kind: "not_sent"; readonly reason: string };

/**
 * Returns the columns for an outcome. The detail contains codes and numbers of the processor, or a
 * local error, but no data of the card or the card holder.
 */
function toColumns(outcome: CallOutcome): Pick<ProcessorCall, "outcome" | "detail"> {
  if (outcome.kind === "refused") return { outcome: "REFUSED", detail: `code ${keepCode(outcome.errorCode)}` };
  if (outcome.kind !== "accepted") {
    // The processor's message after the code is free text and is not stored.
    const [, errorCode] = /^code (\S+?):/.exec(outcome.reason) ?? [];
    const detail = errorCode === undefined ? shorten(outcome.reason) : `code ${keepCode(errorCode)}`;
    return { outcome: outcome.kind === "unknown" ? "UNKNOWN" : "NOT_SENT", detail };
  }
  const { errorCode, orderStatus, actionCode, refundedMinor } = outcome.value ?? {};
  const reportedFields = Object.entries({
    code: keepCode(errorCode),
    "order status": orderStatus,
    "action code": keepCode(actionCode),
    "refunded sum in centimes": refundedMinor,
  });
  const detail = reportedFields.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`])).join(", ");
  return { outcome: "ACCEPTED", detail: shorten(detail) || null };
}

/**
 * Returns a text that has the form of a code. Returns a fixed text in place of any other text,
 * which may be a card number.
 */
const keepCode = (text: string | undefined) => (text === undefined || /^-?\w{1,10}$/.test(text) ? text : "in an unknown format");

/**
 * Shortens a text. Removes NUL characters and replaces unpaired surrogates, because PostgreSQL
 * rejects both.
 */
const shorten = (text: string): string => text.replaceAll("\0", "").slice(0, detailCharactersMax).toWellFormed();

/**
 * Inserts finished calls and returns the time of the database's clock. One statement does both,
 * because each transaction that records an outcome needs both.
 */
export async function recordCalls(
  em: SqlEntityManager,
  { businessId, paymentId, refundId = null }: { businessId: string; paymentId: string; refundId?: string | null },
  calls: readonly FinishedCall[],
): Promise<Date> {
  const rows = calls.map(({ startMs, ...call }) => ({ ...call, agoMs: performance.now() - startMs }));
  const [clock] = await em.execute<{ ms: string }[]>(
    `with clock as (select date_trunc('milliseconds', clock_timestamp()) as now), inserted as (
       insert into processor_call (id, business_id, payment_id, refund_id, operation, outcome, detail, at, duration_ms)
       select uuidv7(), ?::uuid, ?::uuid, ?::uuid, operation, outcome, detail, now - "agoMs" * interval '1 millisecond', "durationMs"
       from clock, jsonb_to_recordset(?::jsonb) as c (operation text, outcome text, detail text, "agoMs" float8, "durationMs" int)
     ) select floor(extract(epoch from now) * 1000)::bigint as ms from clock`,
    [businessId, paymentId, refundId, JSON.stringify(rows)],
  );
  return new Date(Number(clock?.ms));
}
