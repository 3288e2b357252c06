import type { PaymentLink } from "@amana/contracts/payments/v1/payment_link_pb";
import { formatAmount, type Html, html, type IconName, type Language, resultCard } from "@amana/pages";
import { helpline } from "@amana/receipts";
import type { BuyerErrorCode } from "../../checkout/buyer-form.ts";
import type { CheckoutTexts } from "./fr.ts";
import { type CheckoutPage, foreignText, type View } from "./layout.ts";

/** Returns the smallest and the largest amount of a link in the language of the page. */
export const rangeOf = ({ amountMinMinor = 0n, amountMaxMinor = 0n }: PaymentLink, language: Language): [string, string] => [
  formatAmount(amountMinMinor, language),
  formatAmount(amountMaxMinor, language),
];

export interface Notice {
  readonly tone: IconName;
  readonly title: string;
  readonly texts: readonly (string | Html)[];
  /** True for a result that appears without an action of the reader. */
  readonly isLive?: boolean;
}

/** Returns a page: the icon and the title of the notice, its texts, and `content` below them. */
export function noticePage(status: number, { tone, title, texts, isLive = false }: Notice, content?: Html): CheckoutPage {
  const body = html`${texts.map((text) => html`<p>${text}</p>`)}
${content}`;
  return { status, title, main: resultCard(tone, title, body, isLive ? html` aria-live="polite"` : undefined) };
}

/** Renders a link that looks like a button. */
export const button = (href: string, label: string, kind: "primary" | "secondary" = "primary"): Html =>
  html`<a class="button ${kind}" href="${href}">${label}</a>`;

/** Renders a list of details. Rows without a value are omitted. */
export const details = (rows: readonly (readonly [label: string, value: Html | string | undefined])[]): Html =>
  html`<dl>
${rows.filter(([, value]) => value !== undefined).map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}
</dl>`;

/** Renders a number, a code or an amount from left to right, even on a right-to-left page. */
export const code = (text: string): Html => html`<bdi dir="ltr" class="digits">${foreignText(text)}</bdi>`;

export const errorText = ({ errors }: CheckoutTexts, error: BuyerErrorCode, range: readonly [string, string]): string => {
  const text = errors[error];
  return typeof text === "function" ? text(...range) : text;
};

/** Renders the sentence about the help line. */
export const helpLine = ({ texts }: View): Html =>
  html`<p class="help">${texts.result.help} <a href="tel:${helpline}"><bdi dir="ltr">${helpline}</bdi></a></p>`;
