import { enumName } from "@amana/contracts/enum-names";
import { KycEventSchema, KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { PaymentEventSchema, PaymentEventType } from "@amana/contracts/payments/v1/payment_events_pb";
import { apiCaller } from "@amana/dev-env/demo/api";
import { fromBinary } from "@bufbuild/protobuf";
import { checkDeliveries } from "../events/check-deliveries.ts";
import type { GoodEvent } from "../events/emit-events.ts";
import type { Interrupted } from "../events/interrupted.ts";
import type { Attempted } from "../refunds/ask-for-refunds.ts";
import { whatDoesNotHold as whatIsWrongWithPayment } from "../refunds/check-payment.ts";
import { decideAll, waitingForAPerson } from "../refunds/operator.ts";
import { Report } from "../report.ts";
import { type Company, toldTypes } from "./company.ts";
import type { Stage } from "./stage.ts";
import { type Verified, whatIsWrongWith, whatIsWrongWithClient } from "./verify.ts";

/** What was done in a schedule. */
export interface Doings {
  readonly company: Company;
  readonly interrupted: Interrupted;
  readonly refunds: Attempted[];
  readonly verifications: Verified[];
  /** Where each is read. */
  readonly replays: string[];
}

interface ToldEvent extends GoodEvent {
  /** The payment or application. */
  readonly about: string;
}

/**
 * What is not, or not yet, as promised: each refund happened once or not at all, each verification
 * ended as it should, and each event was accepted. Where nothing can take effect late any more, a
 * person decides what waits for one.
 */
export async function whatDoesNotHold(stage: Stage, doings: Doings, { mayDecide }: { mayDecide: boolean }): Promise<string[]> {
  const { company, interrupted, refunds, verifications, replays } = doings;
  const { databases } = stage;
  const scene = { ...company.scene, report: new Report() };
  const good = await readEvents(stage, company);
  const typesAbout = (id: string) => [...good.values()].filter(({ about }) => about === id).map(({ type }) => type);
  const problems: string[] = [];
  if (refunds.length > 0) {
    const waiting = await waitingForAPerson(scene);
    if (mayDecide && refunds.some(({ id }) => waiting.has(id))) await decideAll(scene, refunds);
    const active = await activeRefunds(stage, refunds);
    for (const refund of refunds) {
      const found = await whatIsWrongWithPayment(scene, refund, waiting);
      if (waiting.has(refund.id)) found.push("it waits for a person");
      if (active.has(refund.id)) found.push("a refund of it is still under way");
      const told = typesAbout(refund.id);
      const isRefunded = (await statusOf(stage, refund.id)) === "REFUNDED";
      const wanted = ["PAYMENT_COMPLETED", ...(isRefunded ? ["PAYMENT_REFUNDED"] : [])];
      if (told.toSorted().join() !== wanted.join()) found.push(`its events are ${told.join()}, not ${wanted.join()}`);
      if (found.length > 0) problems.push([`payment ${refund.id}`, ...found, ...refund.story].join("\n      "));
    }
  }
  for (const verified of verifications) {
    problems.push(...(await whatIsWrongWith(databases, scene, verified, typesAbout(verified.id))));
  }
  if (company.clientId) problems.push(...(await whatIsWrongWithClient(scene, company.clientId, verifications)));
  for (const replay of replays) {
    const { body } = await apiCaller(scene.gatewayUrl(), scene.apiKey)("GET", replay);
    if (body["status"] !== "DONE") problems.push(`${replay} is ${body["status"]}`);
  }
  await checkDeliveries({
    ...{ committed: { good }, endpoints: [company.endpoint], interrupted },
    ...{ webhooks: databases.webhooks, report: scene.report },
  });
  return [...problems, ...scene.report.violations];
}

/** Every event about the business that was committed, and that its endpoint asks for. */
async function readEvents({ databases }: Stage, { endpoint, outboxIds }: Company): Promise<Map<string, ToldEvent>> {
  const events = new Map<string, ToldEvent>();
  for (const name of ["payments", "kyc"] as const) {
    const { rows } = await databases[name].query<{ event_id: string; payload: Buffer }>(
      `select headers ->> 'ce_id' as event_id, payload from outbox
       where id > $1 and topic = $2 and position($3::bytea in payload) > 0 order by id`,
      [outboxIds[name], `${name}.v1`, Buffer.from(endpoint.businessId)],
    );
    for (const { event_id, payload } of rows) {
      const { businessId, about, type = "" } = name === "payments" ? paymentEvent(payload) : kycEvent(payload);
      if (businessId !== endpoint.businessId || !toldTypes.includes(type)) continue;
      events.set(event_id, { businessId, about, type });
    }
  }
  return events;
}

function paymentEvent(payload: Buffer) {
  const { type, payment } = fromBinary(PaymentEventSchema, payload);
  return { businessId: payment?.businessId ?? "", about: payment?.id ?? "", type: enumName(PaymentEventType, type) };
}

function kycEvent(payload: Buffer) {
  const { type, application } = fromBinary(KycEventSchema, payload);
  return { businessId: application?.businessId ?? "", about: application?.id ?? "", type: enumName(KycEventType, type) };
}

async function activeRefunds({ databases }: Stage, refunds: readonly Attempted[]): Promise<Set<string>> {
  const { rows } = await databases.payments.query<{ payment_id: string }>(
    "select payment_id from refund where payment_id = any($1) and status in ('REQUESTED', 'SENT', 'UNKNOWN')",
    [refunds.map(({ id }) => id)],
  );
  return new Set(rows.map(({ payment_id }) => payment_id));
}

async function statusOf({ databases }: Stage, paymentId: string): Promise<string | undefined> {
  const { rows } = await databases.payments.query<{ status: string }>("select status from payment where id = $1", [paymentId]);
  return rows[0]?.status;
}
