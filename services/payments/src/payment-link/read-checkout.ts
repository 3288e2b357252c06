import { CheckoutState } from "@amana/contracts/payments/v1/checkout_service_pb";
import { preparedQuery, type RowOf } from "@amana/database";
import type { Context } from "../context.ts";
import { idByPageTokenSql, pageTokenPattern } from "../payment/page-token.ts";
import { paymentView } from "../payment/payment.message.ts";
import { paymentLinkView } from "./payment-link.message.ts";
import { isLinkFull, linkTokenPattern } from "./payment-link.ts";

/** State of a payment link for its pages, at one time of the database's clock. */
interface CheckoutRow {
  readonly link: RowOf<typeof paymentLinkView>;
  readonly state: CheckoutState;
  /** Payment with the requested page token, if the payment belongs to the link. */
  readonly payment: RowOf<typeof paymentView> | undefined;
  /** True if the payment is PENDING and its card holder still has time to pay. */
  readonly isPayable: boolean;
}

const paymentPrefix = "payment.";

const text = `
  select link.*, slots.pending, payment.*
  from (select ${paymentLinkView.columns} from payment_link where token = $1) link
  cross join lateral (
    select count(*)::int as pending from payment where link."maxPayments" is not null and business_id = link."businessId"
      and payment_link_id = link.id and status = 'PENDING' and created_at > now() - $3::int * interval '1 second'
  ) slots
  left join lateral (
    select ${paymentView.columns.replaceAll(' as "', ` as "${paymentPrefix}`)},
      status = 'PENDING' and created_at > now() - $3::int * interval '1 second' as is_payable
    from payment where id = (${idByPageTokenSql("$2")})
      and business_id = link."businessId" and payment_link_id = link.id
  ) payment on true`;

/**
 * Reads the link with `linkToken` and the payment with `paymentToken` in one statement. Returns
 * undefined for an unknown link. The caller is the platform, so the statement can read the rows of
 * all tenants. The statement itself restricts payments to the link's business.
 */
export async function readCheckout(
  { orm, schedule }: Context,
  linkToken: string,
  paymentToken: string | undefined,
): Promise<CheckoutRow | undefined> {
  if (!linkTokenPattern.test(linkToken)) return undefined;
  const token = paymentToken !== undefined && pageTokenPattern.test(paymentToken) ? paymentToken : null;
  const values = [linkToken, token, schedule.paymentWindowSeconds];
  const [row] = await preparedQuery<Record<string, unknown>>(orm.em, text, values);
  if (!row) return undefined;
  const paymentRow: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    if (name.startsWith(paymentPrefix)) paymentRow[name.slice(paymentPrefix.length)] = value;
  }
  const link = paymentLinkView.parse(row);
  const openState = isLinkFull(link, Number(row["pending"])) ? CheckoutState.FULL : CheckoutState.OPEN;
  return {
    link,
    state: link.statusNow === "ACTIVE" ? openState : CheckoutState.UNAVAILABLE,
    payment: paymentRow["id"] === null ? undefined : paymentView.parse(paymentRow),
    isPayable: row["is_payable"] === true,
  };
}
