import { type Html, html } from "../../pages/html.ts";
import { formatAmount } from "../../pages/language.ts";
import type { CardEntry, CardField, CardProblems } from "../card-entry.ts";
import { outcomeOf } from "../outcome.ts";
import { testCards } from "../test-cards.ts";
import { cancelForm, errorSummary, field, orderSummary, timeLeft } from "./parts.ts";
import { actionOf, type View } from "./view.ts";

const fields: readonly CardField[] = ["pan", "expiry", "cvv2"];

/** What was typed comes back, except the CVV2, which no page ever repeats. */
export function cardStep(view: View, typed?: CardEntry, problems: CardProblems = {}): Html {
  const { words, order, language } = view;
  const wrong = fields.flatMap((id) => (problems[id] ? [{ fieldId: id, text: words.problems[problems[id]] }] : []));
  const common = (id: CardField) => ({
    id,
    problem: wrong.find(({ fieldId }) => fieldId === id)?.text,
    first: wrong[0]?.fieldId === id,
  });
  return html`<h1>${words.title}</h1>
${errorSummary(words, wrong)}
${orderSummary(view)}
<section class="card" aria-labelledby="step">
<h2 id="step">${words.cardStep}</h2>
${timeLeft(view)}
<form method="post" action="${actionOf(view, "card")}" novalidate data-once>
${field({
  ...common("pan"),
  label: words.pan,
  hint: words.panHint,
  attributes: html`value="${typed?.pan}" inputmode="numeric" autocomplete="cc-number" maxlength="23" data-group-digits`,
})}
<div class="pair">
${field({
  ...common("expiry"),
  label: words.expiry,
  hint: words.expiryHint,
  attributes: html`value="${typed?.expiry}" inputmode="numeric" autocomplete="cc-exp" maxlength="9" data-month-year`,
})}
${field({
  ...common("cvv2"),
  label: words.cvv2,
  hint: words.cvv2Hint,
  attributes: html`inputmode="numeric" autocomplete="cc-csc" maxlength="3"`,
})}
</div>
<button class="primary">${words.pay(formatAmount(order.amountMinor, language))}</button>
</form>
${cancelForm(view)}
</section>
${testCardList(view)}`;
}

function testCardList({ words, language }: View): Html {
  return html`<details class="test-cards">
<summary>${words.testCards}</summary>
<p>${words.testCardsHint}</p>
<ul>
${testCards.map(
  ({ pan, expiry, cvv2, outcome }) => html`<li><strong><bdi class="digits">${pan.replace(/(.{4})(?=.)/g, "$1 ")}</bdi></strong>
<span>${words.testCardValues(expiry, cvv2)}</span> <span>${outcomeOf(outcome).words[language]}</span></li>`,
)}
</ul>
</details>`;
}
