import { apiCaller } from "@amana/dev-env/demo/api";
import { sandbox } from "@amana/e2e/test-system";
import type { Report } from "../report.ts";
import type { Attempted, Scene } from "./ask-for-refunds.ts";

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
 * What is not as promised about this payment; it may be on the way there while refunds are still
 * being resolved.
 */
export async function whatDoesNotHold(scene: Scene, attempted: Attempted, waiting: ReadonlySet<string>): Promise<string[]> {
  const { system, gatewayUrl, apiKey } = scene;
  const view = (await sandbox(system, "GET", `/sandbox/payments/${attempted.orderId}`)) as ProcessorView;
  const payment = (await apiCaller(gatewayUrl(), apiKey)("GET", `/api/v1/payments/${attempted.id}`)).body as unknown as Payment;
  const problems: string[] = [];
  const check = (holds: boolean, problem: string) => {
    if (!holds) problems.push(problem);
  };

  // Only one refund of a payment ever ends well, so only one of our calls may ever have had an
  // effect.
  const ours = view.refunds.filter(({ by }) => by === "client");
  check(ours.length <= 1, `our calls gave back ${ours.length} times: ${ours.map(({ amount }) => amount).join(" + ")}`);
  for (const { amount } of ours) check(attempted.asked.includes(amount), `our call gave back ${amount}, which nobody asked for`);
  const sawThePresent = !attempted.course.statusFault?.mode.startsWith("stale:");
  if (attempted.givenBackBefore && sawThePresent)
    check(ours.length === 0, "our call gave back what the back office had already given back from");
  // What the back office gives back may by chance be just what we asked for: nobody can tell the
  // two apart.
  const byChance = view.refunds.some(({ by, amount }) => by === "back_office" && attempted.asked.includes(amount));
  if (payment.status === "REFUNDED" && payment.origin !== "PROCESSOR" && !attempted.rolledBack && !byChance)
    check(ours.length === 1, `REFUNDED by us, but our calls had ${ours.length} effects`);

  if (waiting.has(attempted.id)) return problems;
  const recordedMinor = Math.round(Number(payment.refunded_amount ?? 0) * 100);
  check(recordedMinor === view.refundedAmount, `we recorded ${recordedMinor}, the processor gave back ${view.refundedAmount}`);
  check(
    (payment.status === "REFUNDED") === view.refundedAmount > 0,
    `${payment.status}, and the processor gave back ${view.refundedAmount}`,
  );
  check((payment.status === "CANCELED") === (view.orderStatus === 3), `${payment.status}, at the processor ${view.orderStatus}`);
  return problems;
}

/** Puts into the report what held and what did not. */
export function judge(report: Report, attempted: Attempted, problems: readonly string[], isWaiting: boolean): void {
  if (isWaiting) report.count("payments that wait for a person");
  report.check("payments at the processor", problems.length === 0, () =>
    [`payment ${attempted.id}`, ...problems, ...attempted.story].join("\n      "),
  );
}
