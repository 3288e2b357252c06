import { withLease } from "@amana/due-work";
import { sleep } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { Payment } from "./payment.ts";
import { rereadPayment } from "./reread-payment.ts";
import { settlePayment } from "./settle-payment.ts";

const timeoutMs = 30_000;

/**
 * Asks the processor about a payment, at most once in ten seconds for all replicas together, and waits no longer than
 * `waitMs`: what it says later is still recorded. Whatever fails leaves the stored state as it is.
 */
export async function refreshPayment(context: Context, businessId: string, id: string, waitMs: number): Promise<void> {
  if (!(await takeTurn(context.orm.em.fork() as SqlEntityManager, businessId, id))) return;
  const remainingMs = () => timeoutMs;
  const ended = new AbortController();
  const refreshing = withLease(context.orm, "payment", id, async () => {
    const payment = await context.orm.em.fork().findOneOrFail(Payment, { id });
    // In one line with these wait the business's own refunds and confirms, which cannot do without an answer.
    if (context.processor.isCrowded(businessId, "reads")) return;
    if (payment.isSettled()) await rereadPayment(context, id, remainingMs);
    else await settlePayment(context, id, { confirmFirst: false, remainingMs });
  })
    .catch((error: unknown) => context.logger.warn({ err: error, payment_id: id }, "payment could not be refreshed"))
    .finally(() => ended.abort());
  await Promise.race([refreshing, sleep(waitMs, ended.signal)]);
}

async function takeTurn(em: SqlEntityManager, businessId: string, id: string): Promise<boolean> {
  const rows = await em.execute(
    `update payment set checked_at = now() where business_id = ? and id = ? and processor_order_id is not null
       and status in ('PENDING', 'EXPIRED', 'PAID', 'REFUNDED')
       and (checked_at is null or checked_at < now() - interval '10 seconds') returning id`,
    [businessId, id],
  );
  return rows.length > 0;
}
