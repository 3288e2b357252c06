import { type Html, html } from "../../pages/html.ts";
import { icons } from "../../pages/icons.ts";
import { formatAmount, formatTime } from "../../pages/language.ts";
import { sessionMs } from "../order.ts";
import { actionOf, type View } from "./view.ts";

/** What is being paid, and to whom. */
export function orderSummary({ order, language, words }: View): Html {
  return html`<section class="card summary" aria-label="${words.amount}">
<p class="amount"><span>${words.amount}</span> <strong><bdi>${formatAmount(order.amountMinor, language)}</bdi></strong></p>
<dl>
<div><dt>${words.business}</dt><dd>${words.terminal} <bdi>${order.merchantParams["force_terminal_id"]}</bdi></dd></div>
${order.description !== "" && html`<div><dt>${words.description}</dt><dd><bdi>${order.description}</bdi></dd></div>`}
<div><dt>${words.orderNumber}</dt><dd><bdi class="digits">${order.orderNumber}</bdi></dd></div>
</dl>
</section>`;
}

/** The hour is right without a script; the script adds the minutes that remain. */
export function timeLeft({ order, language, words, nowMs }: View): Html {
  const endsAtMs = order.registeredAtMs + sessionMs;
  const secondsLeft = Math.ceil((endsAtMs - nowMs) / 1000);
  return html`<p class="time-left"><span>${words.payBefore(formatTime(endsAtMs, language))}</span>
<span data-seconds-left="${secondsLeft}" hidden>${words.timeLeft} <bdi class="digits" role="timer"></bdi></span></p>
<p class="visually-hidden" aria-live="polite" data-announce data-five="${words.fiveMinutesLeft}" data-one="${words.oneMinuteLeft}"></p>`;
}

export function errorSummary(words: View["words"], problems: readonly { fieldId: string; text: string }[]): Html | undefined {
  if (problems.length === 0) return undefined;
  return html`<div class="problem-summary" role="alert">
${icons.danger}
<div><h2>${words.errorSummary}</h2>
<ul>${problems.map(({ fieldId, text }) => html`<li><a href="#${fieldId}">${text}</a></li>`)}</ul></div>
</div>`;
}

export function cancelForm(view: View): Html {
  return html`<form class="cancel" method="post" action="${actionOf(view, "cancel")}">
<button class="quiet">${view.words.cancel}</button>
</form>`;
}

export interface Field {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  readonly problem?: string | undefined;
  readonly first: boolean;
  /** Attributes that differ from field to field. */
  readonly attributes: Html;
}

/** A labelled input. The first one with a problem takes the focus, with or without a script. */
export function field({ id, label, hint, problem, first, attributes }: Field): Html {
  return html`<div class="field${problem !== undefined && " invalid"}">
<label for="${id}">${label}</label>
<p class="hint" id="${id}-hint">${hint}</p>
${problem !== undefined && html`<p class="problem" id="${id}-problem">${icons.danger}<span>${problem}</span></p>`}
<input id="${id}" name="${id}" dir="ltr" required ${attributes} aria-describedby="${id}-hint${problem !== undefined && ` ${id}-problem`}"${problem !== undefined && html` aria-invalid="true"`}${first && html` autofocus`}>
</div>`;
}
