import { field, formatAmount, type Html, html } from "@amana/pages";
import { form } from "../../pages/parts.ts";
import type { CardEntry, CardField, CardProblems } from "../card-entry.ts";
import { testCards } from "../test-cards.ts";
import { digits, type PaymentView, paymentStep } from "./parts.ts";

const fields: readonly CardField[] = ["pan", "expiry", "cvv2"];

/**
 * Renders the card form. After an error, the form contains the values of `entry`, except for the
 * CVV2.
 */
export function cardStep(view: PaymentView, entry?: CardEntry, problems: CardProblems = {}): Html {
  const { words, order, language } = view;
  const fieldProblems = fields.flatMap((id) => (problems[id] ? [{ fieldId: id, text: words.problems[problems[id]] }] : []));
  const cardField = (id: CardField, hint: string, attributes: Html) => {
    const problem = fieldProblems.find(({ fieldId }) => fieldId === id)?.text;
    const isFocused = fieldProblems[0]?.fieldId === id;
    return field({ id, label: words[id], hint, problem, isFocused, attributes: html`dir="ltr" ${attributes}` });
  };
  const content = html`${cardField("pan", words.panHint, html`required value="${entry?.pan}" inputmode="numeric" autocomplete="cc-number" maxlength="23" data-group-digits`)}
<div class="pair">
${cardField("expiry", words.expiryHint, html`required value="${entry?.expiry}" inputmode="numeric" autocomplete="cc-exp" maxlength="9" data-month-year`)}
${cardField("cvv2", words.cvv2Hint, html`required inputmode="numeric" autocomplete="cc-csc" maxlength="3"`)}
</div>`;
  const pay = words.pay(formatAmount(order.amountMinor, language));
  return html`${paymentStep(view, words.cardStep, fieldProblems, form(view, "card", pay, content))}
<details class="test-cards">
<summary>${words.testCards}</summary>
<p>${words.testCardsHint}</p>
<ul>
${testCards.map(
  ({ pan, expiry, cvv2, outcome }) => html`<li><strong>${digits(pan.replace(/(.{4})(?=.)/g, "$1 "))}</strong>
<span>${words.testCardValues(expiry, cvv2)}</span> <span>${words.outcomes[outcome]}</span></li>`,
)}
</ul>
</details>`;
}
