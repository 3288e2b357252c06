import type { EnumName } from "@amana/contracts/enum-names";
import type * as proto from "@amana/contracts/payments/v1/refund_service_pb";
import { uuidv7 } from "@amana/runtime";
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

/** What the processor was asked and what came of it: only ever inserted, gone after 30 days. */
export class ProcessorCall extends schema.class {}
schema.setClass(ProcessorCall);

/** A call that is over and not recorded yet. */
export interface NotedCall extends Pick<ProcessorCall, "operation" | "outcome" | "detail" | "durationMs"> {
  readonly beganMs: number;
}

const detailCharactersMax = 200;

/** The same processor, with calls noted for the transaction that records what they came to. */
export function noting(processor: CardProcessor, noted: NotedCall[]): CardProcessor {
  const note =
    <A extends unknown[], T extends { readonly kind: string }>(operation: Operation, call: (...given: A) => Promise<T>) =>
    async (...given: A): Promise<T> => {
      const beganMs = performance.now();
      const outcome = await call(...given);
      const durationMs = Math.round(performance.now() - beganMs);
      noted.push({ operation, beganMs, durationMs, ...told(outcome as unknown as CallOutcome) });
      return outcome;
    };
  return {
    ...processor,
    register: note("REGISTER", processor.register),
    confirm: note("CONFIRM", processor.confirm),
    status: note("STATUS", processor.status),
    refund: note("REFUND", processor.refund),
  };
}

type CallOutcome = Outcome<Partial<OrderState> | null> | { readonly kind: "not_sent"; readonly reason: string };

/** Numbers of the processor's and faults of ours; nothing of the card or of who holds it. */
function told(outcome: CallOutcome): Pick<ProcessorCall, "outcome" | "detail"> {
  if (outcome.kind === "refused") return { outcome: "REFUSED", detail: `code ${code(outcome.errorCode)}` };
  if (outcome.kind !== "accepted") {
    // What the processor writes beside its code is a text of its own.
    const [, said] = /^code (\S+?):/.exec(outcome.reason) ?? [];
    const detail = said === undefined ? short(outcome.reason) : `code ${code(said)}`;
    return { outcome: outcome.kind === "unknown" ? "UNKNOWN" : "NOT_SENT", detail };
  }
  const { errorCode, orderStatus, actionCode, refundedMinor } = outcome.value ?? {};
  const said = Object.entries({
    code: code(errorCode),
    "order status": orderStatus,
    "action code": code(actionCode),
    "given back in centimes": refundedMinor,
  });
  const detail = said.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`])).join(", ");
  return { outcome: "ACCEPTED", detail: short(detail) || null };
}

/** Of what calls itself a code, what may be one: a card's number is longer. */
const code = (text: string | undefined) => (text === undefined || /^-?\w{1,10}$/.test(text) ? text : "of another form");

/** What others write must not make the row one that PostgreSQL refuses. */
const short = (text: string): string => text.replaceAll("\0", "").slice(0, detailCharactersMax);

/** Records calls with what they came to, `now` by the database's clock. */
export function recordCalls(
  em: SqlEntityManager,
  about: { readonly businessId: string; readonly paymentId: string; readonly refundId?: string },
  noted: readonly NotedCall[],
  now: Date,
): void {
  for (const { beganMs, ...call } of noted) {
    const at = new Date(now.getTime() - (performance.now() - beganMs));
    em.persist(em.create(ProcessorCall, { id: uuidv7(now.getTime()), refundId: null, ...about, ...call, at }));
  }
}
