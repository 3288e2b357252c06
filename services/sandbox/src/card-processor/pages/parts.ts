import { formatAmount, formatTime, type Html, html, problemSummary } from "@amana/pages";
import type { View } from "../../pages/layout.ts";
import { actionOf } from "../../pages/parts.ts";
import { type Order, sessionMs } from "../order.ts";
import type { Words } from "../words/fr.ts";

export interface PaymentView extends View<Words> {
  readonly order: Order;
  readonly nowMs: number;
}

export const row = (term: string, value: string | Html) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`;

export const digits = (text: string | undefined) => html`<bdi class="digits">${text}</bdi>`;

/** Renders the rows with the payee, the description and the order number. */
export function orderRows({ order, words }: PaymentView): Html {
  return html`${row(words.business, html`${words.terminal} <bdi>${order.merchantParams["force_terminal_id"]}</bdi>`)}
${order.description !== "" && row(words.description, html`<bdi>${order.description}</bdi>`)}
${row(words.orderNumber, digits(order.orderNumber))}`;
}

export interface Problem {
  readonly fieldId: string;
  readonly text: string;
}

/** Renders a step of the payment: the order, one form, and the button to cancel. */
export function paymentStep(view: PaymentView, title: string, problems: readonly Problem[], content: Html): Html {
  const { order, language, words } = view;
  const list = html`<ul>${problems.map(({ fieldId, text }) => html`<li><a href="#${fieldId}">${text}</a></li>`)}</ul>`;
  return html`<h1>${words.title}</h1>
${problems.length > 0 && problemSummary(html`<h2>${words.errorSummary}</h2>`, list)}
<section class="card summary" aria-label="${words.amount}">
<p class="amount"><span>${words.amount}</span> <strong><bdi>${formatAmount(order.amountMinor, language)}</bdi></strong></p>
<dl>
${orderRows(view)}
</dl>
</section>
<section class="card" aria-labelledby="step">
<h2 id="step">${title}</h2>
${renderTimeLeft(view)}
${content}
<form class="cancel" method="post" action="${actionOf(view, "cancel")}">
<button class="quiet">${words.cancel}</button>
</form>
</section>`;
}

/** Renders the time of day at which the session ends. The script adds a countdown. */
function renderTimeLeft({ order, language, words, nowMs }: PaymentView): Html {
  const endsAtMs = order.registeredAtMs + sessionMs;
  const secondsLeft = Math.ceil((endsAtMs - nowMs) / 1000);
  return html`<p class="time-left"><span>${words.payBefore(formatTime(endsAtMs, language))}</span>
<span data-seconds-left="${secondsLeft}" hidden>${words.timeLeft} <bdi class="digits" role="timer"></bdi></span></p>
<p class="visually-hidden" aria-live="polite" data-announce data-five="${words.fiveMinutesLeft}" data-one="${words.oneMinuteLeft}"></p>`;
}
