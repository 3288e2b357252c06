import { apiCaller } from "@amana/dev-env/demo/api";
import { sandbox } from "@amana/e2e/test-system";
import type { Attempted, Scene } from "./ask-for-refunds.ts";
import type { ProcessorView } from "./check-payment.ts";

interface WaitingRefund {
  readonly id: string;
  readonly payment_id: string;
}

/** Every page of one of the operator's lists. */
async function listed<T>({ system, gatewayUrl }: Scene, path: string): Promise<T[]> {
  const operator = apiCaller(gatewayUrl(), system.adminKey);
  const all: T[] = [];
  for (;;) {
    const { status, body, text } = await operator("GET", `${path}&limit=100&offset=${all.length}`);
    if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
    const page = body as unknown as T[];
    all.push(...page);
    if (page.length < 100) return all;
  }
}

const waitingRefunds = (scene: Scene) => listed<WaitingRefund>(scene, "/api/v1/admin/refunds?needs_decision=true");

/**
 * The payments that wait for a person, as the operator sees them: by a refund, or by a difference
 * that no rule explains.
 */
export async function waitingForAPerson(scene: Scene): Promise<Set<string>> {
  const changed = await listed<{ id: string; difference?: unknown }>(scene, "/api/v1/admin/payments?origin=PROCESSOR");
  const refunds = await waitingRefunds(scene);
  return new Set([
    ...refunds.map(({ payment_id }) => payment_id),
    ...changed.filter(({ difference }) => difference !== undefined).map(({ id }) => id),
  ]);
}

/** Decides each refund that waits, by what the processor's books say of our own calls. */
export async function decideAll(scene: Scene, attempted: readonly Attempted[]): Promise<void> {
  const { system, gatewayUrl, report } = scene;
  const operator = apiCaller(gatewayUrl(), system.adminKey);
  for (const { id, payment_id } of await waitingRefunds(scene)) {
    const payment = attempted.find((one) => one.id === payment_id);
    if (!payment) continue;
    const view = (await sandbox(system, "GET", `/sandbox/payments/${payment.orderId}`)) as ProcessorView;
    const outcome = view.refunds.some(({ by }) => by === "client") ? "ACCEPTED" : "REJECTED";
    const { status, text } = await operator("POST", `/api/v1/admin/refunds/${id}/resolve`, {
      outcome,
      note: "seen in its books",
    });
    payment.story.push(`the operator decides ${outcome}: ${status}`);
    report.check("decisions of the operator", status === 200, () => `${outcome} of refund ${id}: ${status} ${text}`);
  }
}
