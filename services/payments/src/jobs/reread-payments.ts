import { databaseTime } from "@amana/database";
import { type DueRows, processDueRows } from "@amana/jobs";
import type { Context } from "../context.ts";
import { Payment } from "../payment/payment.ts";
import { readAgain } from "../payment/refresh-payment.ts";

const timeoutMs = 30_000;
/**
 * Concurrency of each job. Both together leave a quarter of a business's slots for reads at the
 * processor (`satim.ts`) to its returning card holders and its refunds.
 */
const rereadsMax = 8;
const followUpsMax = 4;

/** A business may use all slots while no other business has due rows. */
const rowsOf = (name: string, due: string, concurrency: number, perPause: number): DueRows => ({
  name,
  table: "payment",
  due,
  concurrency,
  perBusiness: concurrency,
  perPause,
  isTraced: true,
});

/** Returns the rows that `rereadPayments` processes. */
export const rereadRows = ({ paymentRereadsPerSecond }: Context["schedule"]): DueRows =>
  rowsOf("reread-payments", "next_reread_at", rereadsMax, paymentRereadsPerSecond);

/** Returns the rows that `followUpPayments` processes. */
export const followUpRows = ({ paymentRereadsPerSecond }: Context["schedule"]): DueRows =>
  rowsOf("follow-up-payments", "next_follow_up_at", followUpsMax, paymentRereadsPerSecond);

/** Reads settled payments again at the processor, for a month after they were paid. */
export const rereadPayments = (context: Context, pauseMs?: number): AsyncDisposable =>
  readDue(context, rereadRows(context.schedule), pauseMs);

/**
 * Reads payments again that expired or whose refund ended. A separate job, so that these reads
 * do not wait behind the rereads of the month after a payment.
 */
export const followUpPayments = (context: Context, pauseMs?: number): AsyncDisposable =>
  readDue(context, followUpRows(context.schedule), pauseMs);

const readDue = (context: Context, rows: DueRows, pauseMs = 1_000): AsyncDisposable =>
  processDueRows(
    context,
    rows,
    async (id, lease) => {
      const em = context.orm.em.fork();
      const payment = await em.findOneOrFail(Payment, { id });
      await readAgain(context, payment, lease, { remainingMs: () => timeoutMs, requestedAt: await databaseTime(em) });
    },
    pauseMs,
  );
