import { type CustomerFields, type PaymentLink, CustomerFieldRule as Rule } from "@amana/contracts/payments/v1/payment_link_pb";
import { parseLanguage, plainText } from "@amana/pages";
import { emailCharactersMax } from "@amana/receipts";
import type { CheckoutTexts } from "../pages/checkout/fr.ts";

/** The values of a submitted form: trimmed and cut to a maximum length, but not validated. */
export type SubmittedForm = Readonly<ReturnType<typeof formOf>>;

/**
 * The values of a valid form. Fields that the link hides and optional fields without a value are
 * absent.
 */
export interface BuyerValues {
  readonly amountMinor?: bigint;
  readonly customerName?: string;
  readonly customerEmail?: string;
  readonly customerPhone?: string;
}

export type BuyerField = "amount" | "name" | "email" | "phone" | "conditions" | "captcha";

export type BuyerErrorCode = keyof CheckoutTexts["errors"];

export type BuyerErrors = Partial<Record<BuyerField, BuyerErrorCode>>;

/** Maximum length of a value. Further characters are ignored. */
const typedLengthMax = 1_000;
const captchaLengthMax = 8_000;
const nameLengthMax = 120;
/**
 * Pattern of the random form token. The token only has to be unique, so the page does not sign it.
 */
const formTokenForm = /^[\w-]{16,64}$/;

/** Reads the body of a POST. Returns undefined if the form has no valid form token. */
export function readSubmittedForm(body: Uint8Array): SubmittedForm | undefined {
  const form = formOf(new URLSearchParams(Buffer.from(body).toString()));
  return formTokenForm.test(form.formToken) ? form : undefined;
}

export const emptyForm = (formToken: string): SubmittedForm => formOf(new URLSearchParams({ form_token: formToken }));

function formOf(fields: URLSearchParams) {
  const text = (name: string, lengthMax = typedLengthMax) => (fields.get(name) ?? "").slice(0, lengthMax).trim();
  return {
    language: parseLanguage(text("lang")),
    formToken: text("form_token"),
    captcha: text("altcha", captchaLengthMax),
    isRestart: fields.has("begin_again"),
    amount: text("amount"),
    name: text("name"),
    email: text("email"),
    phone: text("phone"),
    acceptsConditions: fields.has("conditions"),
  };
}

/**
 * Returns the valid values of a form, and the errors by field. This function does not check the
 * captcha.
 */
export function checkForm(link: PaymentLink, typed: SubmittedForm): { values: BuyerValues; errors: BuyerErrors } {
  const errors: BuyerErrors = {};
  const values: { -readonly [K in keyof BuyerValues]: BuyerValues[K] } = {};
  if (link.amountMinor === undefined) {
    const amount = readAmount(link, typed.amount);
    if (typeof amount === "bigint") values.amountMinor = amount;
    else errors.amount = amount;
  }
  const rules = link.customerFields;
  const field = (name: keyof typeof checks) => {
    const text = typed[name];
    if (!isFieldShown(rules, name)) return undefined;
    if (text === "") {
      if (rules?.[name] === Rule.REQUIRED) errors[name] = `${name}_missing`;
      return undefined;
    }
    const checkResult = checks[name](text);
    if (checkResult.error) errors[name] = checkResult.error;
    return checkResult.value;
  };
  const [name, email, phone] = [field("name"), field("email"), field("phone")];
  if (name !== undefined) values.customerName = name;
  if (email !== undefined) values.customerEmail = email;
  if (phone !== undefined) values.customerPhone = phone;
  if (!typed.acceptsConditions) errors.conditions = "conditions_missing";
  return { values, errors };
}

/** Returns whether the form of a link contains the field. */
export const isFieldShown = (rules: CustomerFields | undefined, name: "name" | "email" | "phone"): boolean =>
  rules?.[name] === Rule.REQUIRED || rules?.[name] === Rule.OPTIONAL;

interface Checked {
  readonly value?: string;
  readonly error?: BuyerErrorCode;
}

const checks = {
  name: (text: string): Checked => {
    const value = plainText(text).trim();
    if (value === "") return { error: "name_missing" };
    return value.length > nameLengthMax ? { error: "name_too_long" } : { value };
  },
  email: (text: string): Checked =>
    text.length <= emailCharactersMax && /^[^\s@<>",;]+@[^\s@<>",;.]+(?:\.[^\s@<>",;.]+)+$/.test(text)
      ? { value: text }
      : { error: "email_malformed" },
  phone: (text: string): Checked => {
    const digits = latinDigits(text)
      .replace(/[\s().\u00a0\u202f\u200e-]/g, "")
      .replace(/^00/, "+");
    const value = /^0\d{9}$/.test(digits) ? `+213${digits.slice(1)}` : digits;
    return /^\+[1-9]\d{6,14}$/.test(value) ? { value } : { error: "phone_malformed" };
  },
};

/**
 * Reads an amount in dinars, with a decimal comma or point and optional separators of thousands.
 * The text "1.500" means 1500 dinars, because an amount has at most two decimals. Returns the
 * amount in centimes, or an error code.
 */
function readAmount({ amountMinMinor, amountMaxMinor }: PaymentLink, typed: string): bigint | BuyerErrorCode {
  const text = latinDigits(typed)
    .replace(/[\s\u00a0\u202f\u200e\u200f\u2066-\u2069]/g, "")
    .replace(/(?:dzd|da|دج|د\.ج)$/i, "");
  if (text === "") return "amount_missing";
  const parts = /^([1-9]\d{0,2}(?:[.,]\d{3})+|\d{1,12})(?:[.,](\d{1,2}))?$/.exec(text.replace(/٬/g, ",").replace(/٫/g, "."));
  if (!parts) return "amount_malformed";
  const [, dinars = "", centimes = ""] = parts;
  const amount = BigInt(dinars.replace(/[.,]/g, "")) * 100n + BigInt(centimes.padEnd(2, "0"));
  return amount >= (amountMinMinor ?? 0n) && amount <= (amountMaxMinor ?? 0n) ? amount : "amount_out_of_range";
}

/** Replaces Arabic-Indic and Persian digits by the digits 0 to 9. */
const latinDigits = (text: string): string =>
  text.replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String((digit.codePointAt(0) ?? 0) & 0xf));
