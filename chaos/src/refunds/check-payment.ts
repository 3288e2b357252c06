import { apiCaller } from "@amana/dev-env/demo/api";
import { callSandbox } from "@amana/e2e/test-system";
import type { Report } from "../report.ts";
import type { RefundContext, TestedPayment } from "./request-refunds.ts";

export interface ProcessorView {
  readonly orderStatus: number;
  readonly refundedAmount: number;
  readonly refunds: readonly { readonly amount: number; readonly at: string; readonly by: "client" | "back_office" }[];
}

interface Payment {
  readonly status: string;
  readonly refunded_amount?: string;
  readonly origin?: string;
}

/**
 * Returns violations of promise P1, and differences between a payment and the processor's state.
 * Differences may be temporary while payments resolves a refund. For a payment in `needsDecision`,
 * checks only for double refunds, because an operator must still decide.
 */
export async function findViolations(
  context: RefundContext,
  tested: TestedPayment,
  needsDecision: ReadonlySet<string>,
): Promise<string[]> {
  const { system, gatewayUrl, apiKey } = context;
  const view = (await callSandbox(system, "GET", `/sandbox/payments/${tested.orderId}`)) as ProcessorView;
  const payment = (await apiCaller(gatewayUrl(), apiKey)("GET", `/api/v1/payments/${tested.id}`)).body as unknown as Payment;
  const problems: string[] = [];
  const check = (holds: boolean, problem: string) => {
    if (!holds) problems.push(problem);
  };

  // At most one refund of a payment is accepted, so at most one call of Amana may have an effect.
  const amanaRefunds = view.refunds.filter(({ by }) => by === "client");
  check(
    amanaRefunds.length <= 1,
    `Amana refunded ${amanaRefunds.length} times: ${amanaRefunds.map(({ amount }) => amount).join(" + ")}`,
  );
  for (const { amount } of amanaRefunds)
    check(tested.requestedMinor.includes(amount), `Amana refunded ${amount}, which no request contained`);
  const readsWereCurrent = !tested.scenario.statusFault?.mode.startsWith("stale:");
  if (tested.refundedByBackOfficeFirst && readsWereCurrent)
    check(amanaRefunds.length === 0, "Amana refunded although the back office had refunded first");
  // A refund by the back office cannot be distinguished from a refund by Amana if a request to
  // Amana had the same amount.
  const isAmbiguous = view.refunds.some(({ by, amount }) => by === "back_office" && tested.requestedMinor.includes(amount));
  if (payment.status === "REFUNDED" && payment.origin !== "PROCESSOR" && !tested.rolledBack && !isAmbiguous)
    check(amanaRefunds.length === 1, `REFUNDED by Amana, but Amana's calls had ${amanaRefunds.length} effects`);

  if (needsDecision.has(tested.id)) return problems;
  const recordedMinor = Math.round(Number(payment.refunded_amount ?? 0) * 100);
  check(recordedMinor === view.refundedAmount, `recorded ${recordedMinor}, refunded at the processor ${view.refundedAmount}`);
  check(
    (payment.status === "REFUNDED") === view.refundedAmount > 0,
    `status ${payment.status}, refunded at the processor ${view.refundedAmount}`,
  );
  check(
    (payment.status === "CANCELED") === (view.orderStatus === 3),
    `status ${payment.status}, order status at the processor ${view.orderStatus}`,
  );
  return problems;
}

/** Records in the report that a payment was checked, with the problems that were found. */
export function recordResult(report: Report, tested: TestedPayment, problems: readonly string[], needsDecision: boolean): void {
  if (needsDecision) report.count("payments that need a decision");
  report.check("a payment agrees with the processor", problems.length === 0, () =>
    [`payment ${tested.id}`, ...problems, ...tested.timeline].join("\n      "),
  );
}
