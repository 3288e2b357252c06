import { callSandbox } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import type { Report } from "../report.ts";
import type { Link } from "./link.ts";
import { type LinksSystem, windowSeconds } from "./links-system.ts";

const sampleEveryMs = 100;
/** Maximum difference between the payment's time at the processor and `paid_at`. */
const lateMarginSeconds = 3;
const settleMsMax = 120_000;

interface PaymentRow {
  readonly id: string;
  readonly link_id: string;
  readonly status: string;
  readonly form_token: string;
  readonly order_id: string | null;
  readonly amount: string;
  readonly refunded: string;
  readonly created_at: Date;
  readonly paid_at: Date | null;
}

interface Movement {
  readonly orderId: string;
  readonly type: "DEPOSIT" | "REFUND" | "REVERSAL";
  readonly amount: number;
}

/**
 * Repeatedly counts the used slots of all links. A link must never have more open and paid payments
 * than its limit permits. Does not count payments that were paid after they had lost their slot.
 */
export async function watchSlots({ database }: LinksSystem, report: Report, signal: AbortSignal): Promise<void> {
  const reported = new Set<string>();
  while (!signal.aborted) {
    const { rows } = await database.query<{ id: string; taken: number; max_payments: number }>(
      `select l.id, l.max_payments, count(*)::int as taken from payment_link l join payment p on p.payment_link_id = l.id
       where l.max_payments is not null and (
         (p.status = 'PENDING' and p.created_at > now() - $1::int * interval '1 second')
         or (p.paid_at is not null and p.paid_at < p.created_at + $2::int * interval '1 second'))
       group by l.id, l.max_payments`,
      [windowSeconds, windowSeconds - lateMarginSeconds],
    );
    report.count("slots read", rows.length);
    for (const { id, taken, max_payments } of rows) {
      if (taken > max_payments && !reported.has(id)) {
        reported.add(id);
        report.violation(`the link ${id} has ${taken} payments for ${max_payments} slots`);
      }
    }
    await sleep(sampleEveryMs, signal);
  }
}

/** Waits at most two minutes until payments and processor have the same data. Checks every link. */
export async function checkLinks(system: LinksSystem, links: readonly Link[], report: Report): Promise<void> {
  const endsAtMs = performance.now() + settleMsMax;
  for (;;) {
    const problems = await findProblems(system, links);
    if (problems.length > 0 && performance.now() < endsAtMs) {
      await sleep(1_000);
      continue;
    }
    for (const problem of problems) report.violation(problem);
    break;
  }
  const payments = await readPayments(system, links);
  for (const link of links) checkPayments(link, payments.get(link.id) ?? [], report);
}

/**
 * Checks how payments began. These checks are not repeated, because no later state can change their
 * results.
 */
function checkPayments(link: Link, payments: readonly PaymentRow[], report: Report): void {
  report.count("payments of links", payments.length);
  report.count("payments paid", payments.filter(({ paid_at }) => paid_at !== null).length);
  for (const { from, until, reason } of link.closed) {
    const started = payments.filter(({ created_at }) => created_at > from && created_at < until);
    report.check("a link that is not available starts no payment", started.length === 0, () => `${reason}: ${ids(started)}`);
  }
  const byForm = Map.groupBy(payments, ({ form_token }) => form_token);
  for (const formToken of link.formTokens) {
    const started = byForm.get(formToken) ?? [];
    report.check("a form starts one payment at most", started.length <= 1, () => ids(started));
  }
  for (const orderId of link.orderIds) {
    const hasPayment = payments.some(({ order_id }) => order_id === orderId);
    report.check("an order of a buyer belongs to a payment", hasPayment, () => `${link.id}, ${orderId}`);
  }
  for (const tokens of link.tabs) {
    const [first, second] = tokens.map((token) => byForm.get(token)?.[0]);
    const isApart =
      !first || !second || first.status === "FAILED" || second.created_at.getTime() - first.created_at.getTime() > 3_000;
    report.check("two tabs of a browser do not start two payments within 3 s", isApart, () => `${first?.id}, ${second?.id}`);
  }
}

const ids = (payments: readonly PaymentRow[]) => payments.map(({ id }) => id).join(", ");

/**
 * Returns differences between Amana and the processor, and wrong totals and events. All these
 * problems must disappear when no payment is in progress any more.
 */
async function findProblems(system: LinksSystem, links: readonly Link[]): Promise<string[]> {
  const { movements } = (await callSandbox(system.system, "GET", "/sandbox/money-movements")) as { movements: Movement[] };
  const byOrder = Map.groupBy(movements, ({ orderId }) => orderId);
  const payments = await readPayments(system, links);
  const completedEvents = Map.groupBy(
    system.seller.receiver.received.filter(({ event }) => event === "PAYMENT_LINK_COMPLETED"),
    ({ body }) => String(body["payment_link_id"]),
  );
  const problems: string[] = [];
  for (const link of links) {
    const ofLink = payments.get(link.id) ?? [];
    const books = ofLink.flatMap(({ order_id }) => byOrder.get(order_id ?? "") ?? []);
    const paid = sum(books.filter(({ type }) => type === "DEPOSIT").map(({ amount }) => amount));
    const refunded = -sum(books.filter(({ type }) => type === "REFUND").map(({ amount }) => amount));
    const deposits = books.filter(({ type }) => type === "DEPOSIT").length;
    const { rows } = await system.database.query<{ paid: string; refunded: string; count: number; max_payments: number | null }>(
      `select amount_paid_minor as paid, amount_refunded_minor as refunded, payments_paid as count, max_payments
       from payment_link where id = $1`,
      [link.id],
    );
    const totals = rows[0];
    if (!totals || Number(totals.paid) !== paid || Number(totals.refunded) !== refunded || totals.count !== deposits) {
      const expected = `${deposits} payments, paid ${paid}, refunded ${refunded} at the processor`;
      problems.push(`totals of the link ${link.id}: ${expected}, but ${JSON.stringify(totals)}`);
    }
    for (const payment of ofLink) {
      const isPaidAtProcessor = byOrder.has(payment.order_id ?? "");
      const isPaid = payment.status === "PAID" || payment.status === "REFUNDED";
      if (isPaid !== isPaidAtProcessor || payment.status === "PENDING") {
        problems.push(
          `the payment ${payment.id} of the link ${link.id} is ${payment.status}, paid at the processor: ${isPaidAtProcessor}`,
        );
      }
    }
    const isCompleted = totals?.max_payments != null && totals.count >= totals.max_payments;
    const events = new Set((completedEvents.get(link.id) ?? []).map(({ body }) => String(body["payment_id"])));
    // A completed link has one event, even if late payments exceed the limit. If a business raises
    // a link's limit, buyers can complete the link again. Therefore the program accepts any number
    // of events for such a link.
    const isExpected = link.change === "raise the limit" || events.size === (isCompleted ? 1 : 0);
    if (!isExpected) problems.push(`the link ${link.id} has ${events.size} PAYMENT_LINK_COMPLETED, completed: ${isCompleted}`);
  }
  return problems;
}

async function readPayments({ database }: LinksSystem, links: readonly Link[]): Promise<Map<string, PaymentRow[]>> {
  const { rows } = await database.query<PaymentRow>(
    `select id, payment_link_id as link_id, status, form_token, processor_order_id as order_id, amount_minor as amount,
       coalesce(refunded_amount_minor, 0) as refunded, created_at, paid_at
     from payment where payment_link_id = any($1::uuid[]) order by created_at`,
    [links.map(({ id }) => id)],
  );
  return Map.groupBy(rows, ({ link_id }) => link_id);
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
