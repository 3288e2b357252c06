import { field, formatDate, type Html, html } from "@amana/pages";
import { testCards } from "../card-processor/test-cards.ts";
import { words as cardWords } from "../card-processor/words/words.ts";
import { type Fault, modes, operations } from "../faults.ts";
import type { View } from "../pages/layout.ts";
import { outcomes } from "../verification-provider/vocabulary.ts";
import { words as kycWords } from "../verification-provider/words/words.ts";
import type { FirstPageWords } from "./words.ts";

export interface FirstPageView extends View<FirstPageWords> {
  readonly nowMs: number;
  readonly faults: readonly Fault[];
}

/** Renders a form. Each button is a pair of action and label. */
function form({ language }: FirstPageView, title: string, content: Html, buttons: readonly (readonly [string, string])[]): Html {
  const button = ([name, label]: readonly [string, string], i: number) =>
    html`<button class="button ${i === 0 ? "primary" : "secondary"}" name="do" value="${name}">${label}</button>`;
  return html`<section class="card">
<h2>${title}</h2>
<form method="post" action="/?lang=${language}">
${content}
<div class="actions">${buttons.map(button)}</div>
</form>
</section>`;
}

function select(id: string, label: string, options: readonly (readonly [value: string, label: string])[]): Html {
  return html`<div class="field"><label for="${id}">${label}</label>
<select id="${id}" name="${id}">${options.map(([value, text]) => html`<option value="${value}">${text}</option>`)}</select></div>`;
}

/**
 * Renders an input. The input's name is the part of the id before the hyphen, so that several forms
 * can have the same field.
 */
const input = (id: string, label: string, hint: string, attributes: Html) =>
  field({ id, name: id.split("-", 1)[0] ?? id, label, hint, attributes: html`dir="ltr" ${attributes}` });

/** Renders the forms for a tester's actions. A form has a button for each of its actions. */
export function forms(view: FirstPageView): Html {
  const { words, language, nowMs, faults } = view;
  const order = (id: string) => input(id, words.order, words.orderHint, html`required list="orders" autocomplete="off"`);
  const link = (id: string) => input(id, words.link, words.linkHint, html`required list="links" autocomplete="off"`);
  const amount = (id: string, hint: string, attributes: Html) =>
    input(id, words.amount, hint, html`inputmode="decimal" autocomplete="off" ${attributes}`);
  const cards = testCards.map(({ pan, outcome }) => [pan, `${pan} · ${cardWords[language].outcomes[outcome]}`] as const);
  const { tester } = kycWords[language];
  const outcomeOptions = [["", words.rules] as const, ...outcomes.map((name) => [name, tester.outcomes[name]] as const)];
  const activeFaults = faults.map(({ operation, mode, times }) => html`<li><bdi>${operation} ${mode} × ${times}</bdi></li>`);

  return html`${form(view, words.buyer, html`${order("order")}${select("card", words.card, cards)}`, [
    ["pay", words.pay],
    ["cancel", words.cancel],
  ])}
${form(view, words.office, html`${order("order-office")}${amount("amount", words.amountHint, html``)}`, [
  ["giveBack", words.giveBack],
  ["reverse", words.reverse],
])}
${form(view, words.page, amount("amount-page", words.pageHint, html`required value="5000.00"`), [["openPage", words.openPage]])}
${form(view, words.applicant, html`${link("link")}${select("outcome", words.outcome, outcomeOptions)}`, [
  ["submit", words.submit],
  ["tester", words.tester],
  ["expire", words.expire],
])}
${form(view, words.reviewer, link("link-review"), [
  ["approve", words.approve],
  ["reject", words.reject],
])}
${form(
  view,
  words.faults,
  html`${activeFaults.length > 0 && html`<p>${words.planted}</p><ul>${activeFaults}</ul>`}
${select(
  "operation",
  words.operation,
  operations.map((name) => [name, name]),
)}
${input("mode", words.mode, words.faultsHint, html`list="modes" autocomplete="off"`)}
${input("times", words.times, "1–10000", html`inputmode="numeric" value="1" autocomplete="off"`)}`,
  [
    ["plant", words.plant],
    ["clear", words.clear],
  ],
)}
${form(view, words.clock, input("seconds", words.seconds, words.clockHint(formatDate(nowMs, language)), html`inputmode="numeric" value="1200" autocomplete="off"`), [["advance", words.advance]])}
<datalist id="modes">${modes.map((mode) => html`<option value="${mode}"></option>`)}</datalist>`;
}
