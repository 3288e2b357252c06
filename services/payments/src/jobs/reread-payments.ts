import { databaseTime } from "@amana/database";
import { type DueRows, processDueRows } from "@amana/jobs";
import type { Context } from "../context.ts";
import { Payment } from "../payment/payment.ts";
import { readAtProcessor } from "../payment/refresh-payment.ts";

const timeoutMs = 30_000;
/**
 * Maximum numbers of concurrent reads of `rereadPayments` and `followUpPayments`. Together, the two
 * jobs use at most three quarters of a business's slots for reads at the processor (see
 * `satim.ts`). The remaining slots serve card holders and refunds.
 */
const rereadsMax = 8;
const followUpsMax = 4;

/**
 * Describes the due rows of a job. A business may use all of the job's slots if no other business
 * has due rows.
 */
const describeRows = (name: string, due: string, concurrency: number, perPause: number): DueRows => ({
  name,
  table: "payment",
  dueColumn: due,
  concurrency,
  perBusiness: concurrency,
  rowsPerPauseMax: perPause,
  isTraced: true,
  hasVersion: true,
});

/** Describes the rows that `rereadPayments` processes. */
export const describeRereadRows = ({ paymentRereadsPerSecond }: Context["schedule"]): DueRows =>
  describeRows("reread-payments", "next_reread_at", rereadsMax, paymentRereadsPerSecond);

/** Describes the rows that `followUpPayments` processes. */
export const describeFollowUpRows = ({ paymentRereadsPerSecond }: Context["schedule"]): DueRows =>
  describeRows("follow-up-payments", "next_follow_up_at", followUpsMax, paymentRereadsPerSecond);

/** Reads settled payments again at the processor, for a month after they were paid. */
export const rereadPayments = (context: Context, pauseMs?: number): AsyncDisposable =>
  startReadJob(context, describeRereadRows(context.schedule), pauseMs);

/**
 * Reads a payment again after it expired or its refund ended. This job is separate from
 * `rereadPayments`, so that these urgent reads do not wait for the reads of that job.
 */
export const followUpPayments = (context: Context, pauseMs?: number): AsyncDisposable =>
  startReadJob(context, describeFollowUpRows(context.schedule), pauseMs);

const startReadJob = (context: Context, rows: DueRows, pauseMs = 1_000): AsyncDisposable =>
  processDueRows(
    context,
    rows,
    async (id, lease) => {
      const em = context.orm.em.fork();
      const payment = await em.findOneOrFail(Payment, { id });
      await readAtProcessor(context, payment, lease, { remainingMs: () => timeoutMs, requestedAt: await databaseTime(em) });
    },
    pauseMs,
  );
