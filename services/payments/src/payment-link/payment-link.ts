import type { EnumName } from "@amana/contracts/enum-names";
import type * as proto from "@amana/contracts/payments/v1/payment_link_pb";
import { assignChanges } from "@amana/database";
import { emailCharactersMax } from "@amana/receipts";
import { defineEntity, p } from "@mikro-orm/postgresql";
import { localPartMax } from "../receipt/email-address.ts";
import { buyerFieldRequired, fieldInvalid } from "./payment-link.errors.ts";

export type PaymentLinkStatus = EnumName<typeof proto.PaymentLinkStatus>;
export type CustomerFieldRule = EnumName<typeof proto.CustomerFieldRule>;

const schema = defineEntity({
  name: "PaymentLink",
  tableName: "payment_link",
  properties: {
    id: p.uuid().primary(),
    businessId: p.uuid(),
    token: p.text(),
    name: p.text(),
    description: p.text().nullable(),
    /**
     * Fixed price. Null if the buyer chooses an amount from `amountMinMinor` to `amountMaxMinor`.
     */
    amountMinor: p.bigint("bigint").nullable(),
    amountMinMinor: p.bigint("bigint").nullable(),
    amountMaxMinor: p.bigint("bigint").nullable(),
    currency: p.text(),
    language: p.text(),
    orderRef: p.text().nullable(),
    nameRule: p.text().$type<CustomerFieldRule>(),
    emailRule: p.text().$type<CustomerFieldRule>(),
    phoneRule: p.text().$type<CustomerFieldRule>(),
    successUrl: p.text().nullable(),
    failUrl: p.text().nullable(),
    conditionsUrl: p.text().nullable(),
    maxPayments: p.integer().nullable(),
    expiresAt: p.datetime(3).nullable(),
    metadata: p.text(),
    /** False if the business has deactivated the link. */
    isActive: p.boolean(),
    paymentsPaid: p.integer(),
    amountPaidMinor: p.bigint("bigint"),
    amountRefundedMinor: p.bigint("bigint"),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    version: p.integer().version(),
  },
});

/** Properties that a business can change. Null clears a property. */
type ChangeableProperty =
  | "name"
  | "description"
  | "successUrl"
  | "failUrl"
  | "conditionsUrl"
  | "nameRule"
  | "emailRule"
  | "phoneRule"
  | "maxPayments"
  | "expiresAt"
  | "metadata"
  | "isActive";
export type PaymentLinkChanges = { [P in ChangeableProperty]?: PaymentLink[P] };

/** Price of a link: a fixed amount, or a range. */
interface Price {
  readonly amountMinor?: bigint;
  readonly amountMinMinor?: bigint;
  readonly amountMaxMinor?: bigint;
}

/** Data of a buyer: as the buyer entered the values, or as they are stored. */
export interface Buyer {
  readonly customerName?: string;
  readonly customerEmail?: string;
  readonly customerPhone?: string;
}

/** SQL expression with the result of `PaymentLink.statusAt` for the database's current time. */
export const statusSql = `(case when not is_active then 'INACTIVE' when payments_paid >= max_payments then 'COMPLETED'
  when expires_at <= now() then 'EXPIRED' else 'ACTIVE' end)`;

/**
 * Pattern of a link's token. The token is checked before each query, because PostgreSQL rejects a
 * text with a NUL character.
 */
export const linkTokenPattern = /^[\w-]{22}$/;

const nameCharactersMax = 200;
/**
 * Pattern of an e-mail address. A stricter pattern would reject some existing addresses. PostgreSQL
 * cannot store NUL.
 */
const emailForm = /^[^\s\0@]+@[^\s\0@]+$/;
const phoneForm = /^\+[1-9]\d{6,14}$/;
const phoneSeparators = /[\s.()-]/g;
/** An Algerian phone number in national format. */
const nationalPhoneForm = /^0\d{9}$/;

/**
 * Returns whether no slot of the link is free. PAID payments and PENDING payments occupy slots.
 * `pendingCount` is the number of PENDING payments whose card holder still has time to pay.
 */
export const isLinkFull = (link: Pick<PaymentLink, "maxPayments" | "paymentsPaid">, pendingCount: number): boolean =>
  link.maxPayments != null && link.paymentsPaid + pendingCount >= link.maxPayments;

/** Throws if a request has no price, an amount together with a range, or an invalid range. */
export function checkPrice({ amountMinor, amountMinMinor, amountMaxMinor }: Price): void {
  const hasRange = amountMinMinor !== undefined || amountMaxMinor !== undefined;
  if (amountMinor !== undefined && hasRange) {
    throw fieldInvalid("/amount", "Send either amount, or amount_min and amount_max, not both forms.");
  }
  if (amountMinor !== undefined) return;
  if (!hasRange) throw fieldInvalid("/amount", "Send amount, or amount_min and amount_max.");
  if (amountMinMinor === undefined) throw fieldInvalid("/amount_min", "amount_min is required with amount_max.");
  if (amountMaxMinor === undefined) throw fieldInvalid("/amount_max", "amount_max is required with amount_min.");
  if (amountMinMinor >= amountMaxMinor) throw fieldInvalid("/amount_max", "amount_max must be greater than amount_min.");
}

/** Throws if the expiry is not in the future, or is after the year 9999, which cannot be stored. */
export function checkExpiry(expiresAt: Date | null | undefined, now: Date): void {
  if (expiresAt && expiresAt <= now) throw fieldInvalid("/expires_at", "expires_at must be in the future.");
  if (expiresAt && expiresAt.getUTCFullYear() > 9999)
    throw fieldInvalid("/expires_at", "expires_at must be before the year 10000.");
}

/**
 * A link to a reusable page on which buyers pay a business. The totals include each payment that
 * became PAID and each refund. A refund does not decrease `paymentsPaid`. Callers must lock the row
 * before a change.
 */
export class PaymentLink extends schema.class {
  /** Returns the status at `now`, a time of the database's clock. */
  statusAt(now: Date): PaymentLinkStatus {
    if (!this.isActive) return "INACTIVE";
    if (this.maxPayments != null && this.paymentsPaid >= this.maxPayments) return "COMPLETED";
    return this.expiresAt && this.expiresAt <= now ? "EXPIRED" : "ACTIVE";
  }

  change(changes: PaymentLinkChanges, now: Date): void {
    checkExpiry(changes.expiresAt, now);
    if (assignChanges<PaymentLinkChanges>(this, changes)) this.updatedAt = now;
  }

  /** Returns the amount for a new payment. `chosenMinor` is the amount that the buyer entered. */
  amountOf(chosenMinor: bigint | undefined): bigint {
    const { amountMinor, amountMinMinor, amountMaxMinor } = this;
    if (amountMinor != null) {
      if (chosenMinor === undefined || chosenMinor === amountMinor) return amountMinor;
      throw fieldInvalid("/amount", "The payment link has a fixed amount.");
    }
    if (chosenMinor === undefined) throw fieldInvalid("/amount", "amount is required.");
    if (amountMinMinor == null || amountMaxMinor == null || chosenMinor < amountMinMinor || chosenMinor > amountMaxMinor) {
      throw fieldInvalid("/amount", "The amount must be in the range of the payment link.");
    }
    return chosenMinor;
  }

  /**
   * Returns the data of a buyer in the form in which it is stored. Omits data that the link does
   * not request. Throws for a missing required field and for an invalid value.
   */
  buyerOf({ customerName, customerEmail, customerPhone }: Buyer): Buyer {
    return {
      customerName: storedFieldOf(this.nameRule, "customer_name", customerName, (text) => {
        const name = text.normalize("NFC");
        return [...name].length <= nameCharactersMax && !name.includes("\0") ? name : undefined;
      }),
      customerEmail: storedFieldOf(this.emailRule, "customer_email", customerEmail, (text) =>
        text.length <= emailCharactersMax && emailForm.test(text) && text.indexOf("@") <= localPartMax ? text : undefined,
      ),
      customerPhone: storedFieldOf(this.phoneRule, "customer_phone", customerPhone, (text) => {
        const digits = text.replaceAll(phoneSeparators, "");
        const phone = nationalPhoneForm.test(digits) ? `+213${digits.slice(1)}` : digits;
        return phoneForm.test(phone) ? phone : undefined;
      }),
    };
  }
}
schema.setClass(PaymentLink);

/** Returns one buyer field in its stored form, or undefined if it is empty or not requested. */
function storedFieldOf(
  rule: CustomerFieldRule,
  field: string,
  entered: string | undefined,
  parse: (text: string) => string | undefined,
): string | undefined {
  if (rule === "HIDDEN") return undefined;
  const text = entered?.trim() ?? "";
  if (text === "" && rule === "REQUIRED") throw buyerFieldRequired(field);
  if (text === "") return undefined;
  const value = parse(text);
  if (value === undefined) throw fieldInvalid(`/${field}`, `${field} is invalid.`);
  return value;
}
