import { apiCaller } from "@amana/dev-env/demo/api";
import { callSandbox } from "@amana/e2e/test-system";
import type { ProcessorView } from "./check-payment.ts";
import type { RefundContext, TestedPayment } from "./request-refunds.ts";

interface RefundNeedingDecision {
  readonly id: string;
  readonly payment_id: string;
}

/** Reads all pages of a list. */
async function listAll<T>({ system, gatewayUrl }: RefundContext, path: string): Promise<T[]> {
  const operator = apiCaller(gatewayUrl(), system.adminKey);
  const items: T[] = [];
  for (;;) {
    const { status, body, text } = await operator("GET", `${path}&limit=100&offset=${items.length}`);
    if (status !== 200) throw new Error(`${path} returned ${status}: ${text}`);
    const page = body as unknown as T[];
    items.push(...page);
    if (page.length < 100) return items;
  }
}

const listRefundsNeedingDecision = (context: RefundContext) =>
  listAll<RefundNeedingDecision>(context, "/api/v1/admin/refunds?needs_decision=true");

/** Returns the payments with a refund that needs a decision or with an unexplained difference. */
export async function findPaymentsNeedingDecision(context: RefundContext): Promise<Set<string>> {
  const changed = await listAll<{ id: string; difference?: unknown }>(context, "/api/v1/admin/payments?origin=PROCESSOR");
  const refunds = await listRefundsNeedingDecision(context);
  return new Set([
    ...refunds.map(({ payment_id }) => payment_id),
    ...changed.filter(({ difference }) => difference !== undefined).map(({ id }) => id),
  ]);
}

/**
 * Decides each refund that needs a decision. ACCEPTED means that a call of Amana refunded the
 * payment at the processor.
 */
export async function decideRefunds(context: RefundContext, tested: readonly TestedPayment[]): Promise<void> {
  const { system, gatewayUrl, report } = context;
  const operator = apiCaller(gatewayUrl(), system.adminKey);
  for (const { id, payment_id } of await listRefundsNeedingDecision(context)) {
    const payment = tested.find(({ id: testedId }) => testedId === payment_id);
    if (!payment) continue;
    const view = (await callSandbox(system, "GET", `/sandbox/payments/${payment.orderId}`)) as ProcessorView;
    const outcome = view.refunds.some(({ by }) => by === "client") ? "ACCEPTED" : "REJECTED";
    const { status, text } = await operator("POST", `/api/v1/admin/refunds/${id}/resolve`, {
      outcome,
      note: "compared with the processor",
    });
    payment.timeline.push(`operator decision ${outcome}: ${status}`);
    report.check("a decision of the operator is accepted", status === 200, () => `${outcome} of refund ${id}: ${status} ${text}`);
  }
}
