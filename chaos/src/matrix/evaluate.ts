import { enumName } from "@amana/contracts/enum-names";
import { KycEventSchema, KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { PaymentEventSchema, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { apiCaller } from "@amana/dev-env/demo/api";
import { fromBinary } from "@bufbuild/protobuf";
import { checkDeliveries } from "../events/check-deliveries.ts";
import type { ValidEvent } from "../events/emit-events.ts";
import type { InterruptedDeliveries } from "../events/interrupted-deliveries.ts";
import { findViolations as findPaymentViolations } from "../refunds/check-payment.ts";
import { decideRefunds, findPaymentsNeedingDecision } from "../refunds/operator.ts";
import type { TestedPayment } from "../refunds/request-refunds.ts";
import { Report } from "../report.ts";
import type { MatrixSystem } from "./matrix-system.ts";
import { type FinishedVerification, findClientViolations, findVerificationViolations } from "./run-verification.ts";
import { eventTypes, type ScheduleBusiness } from "./schedule-business.ts";

/** The completed work of a schedule. */
export interface CompletedWork {
  readonly business: ScheduleBusiness;
  readonly interrupted: InterruptedDeliveries;
  readonly refunds: TestedPayment[];
  readonly verifications: FinishedVerification[];
  /** API path of each replay. */
  readonly replays: string[];
}

interface CommittedEvent extends ValidEvent {
  /** Id of the payment or application. */
  readonly subjectId: string;
}

/**
 * Returns the current violations of the promises. The promises are that each refund happened at
 * most once, that each verification has its expected end, and that each event was accepted. With
 * `mayDecide`, also decides refunds that need a decision. `mayDecide` must be false while a refund
 * call can still have a late effect.
 */
export async function findViolations(
  matrixSystem: MatrixSystem,
  completed: CompletedWork,
  { mayDecide }: { mayDecide: boolean },
): Promise<string[]> {
  const { business, interrupted, refunds, verifications, replays } = completed;
  const { databases } = matrixSystem;
  const context = { ...business.context, report: new Report() };
  const valid = await readEvents(matrixSystem, business);
  const eventTypesOf = (id: string) => [...valid.values()].filter(({ subjectId }) => subjectId === id).map(({ type }) => type);
  const problems: string[] = [];
  if (refunds.length > 0) {
    const needsDecision = await findPaymentsNeedingDecision(context);
    if (mayDecide && refunds.some(({ id }) => needsDecision.has(id))) await decideRefunds(context, refunds);
    const active = await readActiveRefunds(matrixSystem, refunds);
    for (const refund of refunds) {
      const paymentProblems = await findPaymentViolations(context, refund, needsDecision);
      if (needsDecision.has(refund.id)) paymentProblems.push("the payment needs a decision");
      if (active.has(refund.id)) paymentProblems.push("a refund is still in progress");
      const published = eventTypesOf(refund.id);
      const isRefunded = (await readStatus(matrixSystem, refund.id)) === "REFUNDED";
      const expected = ["PAYMENT_COMPLETED", ...(isRefunded ? ["PAYMENT_REFUNDED"] : [])];
      if (published.toSorted().join() !== expected.join())
        paymentProblems.push(`its events are ${published.join()}, expected ${expected.join()}`);
      if (paymentProblems.length > 0)
        problems.push([`payment ${refund.id}`, ...paymentProblems, ...refund.timeline].join("\n      "));
    }
  }
  for (const verification of verifications) {
    problems.push(...(await findVerificationViolations(databases, context, verification, eventTypesOf(verification.id))));
  }
  if (business.clientId) problems.push(...(await findClientViolations(context, business.clientId, verifications)));
  for (const replay of replays) {
    const { body } = await apiCaller(context.gatewayUrl(), context.apiKey)("GET", replay);
    if (body["status"] !== "DONE") problems.push(`${replay} has status ${body["status"]}, expected DONE`);
  }
  await checkDeliveries({
    ...{ committed: { valid }, endpoints: [business.endpoint], interrupted },
    ...{ webhooks: databases.webhooks, report: context.report },
  });
  return [...problems, ...context.report.violations];
}

/** Returns the committed events of the business to which its endpoint is subscribed. */
async function readEvents(
  { databases }: MatrixSystem,
  { endpoint, outboxIds }: ScheduleBusiness,
): Promise<Map<string, CommittedEvent>> {
  const events = new Map<string, CommittedEvent>();
  for (const name of ["payments", "kyc"] as const) {
    const { rows } = await databases[name].query<{ event_id: string; payload: Buffer }>(
      `select headers ->> 'ce_id' as event_id, payload from outbox
       where id > $1 and topic = $2 and position($3::bytea in payload) > 0 order by id`,
      [outboxIds[name], `${name}.v1`, Buffer.from(endpoint.businessId)],
    );
    for (const { event_id, payload } of rows) {
      const { businessId, subjectId, type = "" } = name === "payments" ? decodePaymentEvent(payload) : decodeKycEvent(payload);
      if (businessId !== endpoint.businessId || !eventTypes.includes(type)) continue;
      events.set(event_id, { businessId, subjectId, type });
    }
  }
  return events;
}

function decodePaymentEvent(payload: Buffer) {
  const { type, payment } = fromBinary(PaymentEventSchema, payload);
  return { businessId: payment?.businessId ?? "", subjectId: payment?.id ?? "", type: enumName(PaymentEventType, type) };
}

function decodeKycEvent(payload: Buffer) {
  const { type, application } = fromBinary(KycEventSchema, payload);
  return { businessId: application?.businessId ?? "", subjectId: application?.id ?? "", type: enumName(KycEventType, type) };
}

async function readActiveRefunds({ databases }: MatrixSystem, refunds: readonly TestedPayment[]): Promise<Set<string>> {
  const { rows } = await databases.payments.query<{ payment_id: string }>(
    "select payment_id from refund where payment_id = any($1) and status in ('REQUESTED', 'SENT', 'UNKNOWN')",
    [refunds.map(({ id }) => id)],
  );
  return new Set(rows.map(({ payment_id }) => payment_id));
}

async function readStatus({ databases }: MatrixSystem, paymentId: string): Promise<string | undefined> {
  const { rows } = await databases.payments.query<{ status: string }>("select status from payment where id = $1", [paymentId]);
  return rows[0]?.status;
}
