import { readFileSync } from "node:fs";
import { type Html, hostedStyle, html, icons, type Language, languageLinks, logo } from "@amana/pages";
import type { Receipt } from "./receipt.ts";
import { contentOf, type Row } from "./rows.ts";
import type { ShownText } from "./shown-text.ts";
import { receiptTexts } from "./texts.ts";

const asset = (name: string) => readFileSync(new URL(`./assets/${name}`, import.meta.url), "utf8");

/** Style sheet of the pages of this package. */
export const receiptStyle = `${hostedStyle}\n${asset("receipt.css")}`;
/** Script of the pages. It shows the print button, which cannot work without a script. */
export const receiptScript = asset("receipt.js");

/** Longest accepted e-mail address (RFC 5321, section 4.5.3.1.3, without the angle brackets). */
export const emailCharactersMax = 254;

/**
 * Renders a caller's text, an amount or a date, isolated from the direction of the text around it.
 */
export const renderShownText = ({ text, direction }: ShownText): Html => html`<bdi dir="${direction}">${text}</bdi>`;

const row = ({ label, value }: Row): Html => html`<div><dt>${label}</dt><dd>${renderShownText(value)}</dd></div>`;

/** Renders the content of a receipt: state, amounts, seller and all details. */
export function receiptCard(receipt: Receipt, language: Language): Html {
  const { title, state, seller, amount, refund, rows, help } = contentOf(receipt, language);
  return html`<section class="receipt">
<h1>${title}</h1>
<p class="state ${state.tone}">${icons[state.tone]}<strong>${state.text}</strong></p>
<dl class="sums">
${[amount, ...refund].map(row)}
</dl>
<dl>
${[seller, ...rows].map(row)}
</dl>
<p class="help">${help}</p>
</section>`;
}

/** The parts of a receipt page that do not depend on the receipt. */
export interface ReceiptPageOptions {
  readonly language: Language;
  /** Path of the page without its query. */
  readonly path: string;
  readonly canSendEmail: boolean;
  /** A rejected address, which the form shows again with the problem. */
  readonly rejectedEmail?: string;
}

/**
 * Returns the body of a receipt's page, with controls to print, download and e-mail the receipt.
 */
export function receiptPage(receipt: Receipt, options: ReceiptPageOptions): Html {
  const { language, path, canSendEmail } = options;
  const texts = receiptTexts[language];
  return html`${headerOf(options)}
<main>
${receiptCard(receipt, language)}
<div class="actions">
<button type="button" class="secondary" data-print hidden>${texts.print}</button>
<a class="button primary" href="${path}/pdf?lang=${language}">${texts.download}</a>
</div>
${canSendEmail && emailForm(options)}
</main>`;
}

/** Returns the body of a page with a heading and a text. */
export const receiptNotice = (options: ReceiptPageOptions, { title, text, back }: Notice): Html => html`${headerOf(options)}
<main>
<section class="notice">
<h1>${title}</h1>
<p>${text}</p>
${back !== undefined && html`<p><a href="${options.path}?lang=${options.language}">${back}</a></p>`}
</section>
</main>`;

/** Content of `receiptNotice`. `back` is the label of a link to the receipt. */
export interface Notice {
  readonly title: string;
  readonly text: string;
  readonly back?: string;
}

function emailForm({ language, path, rejectedEmail }: ReceiptPageOptions): Html {
  const texts = receiptTexts[language];
  const isRejected = rejectedEmail !== undefined;
  return html`<form class="email" method="post" action="${path}/email?lang=${language}" novalidate>
<h2>${texts.emailTitle}</h2>
<label for="email">${texts.email}</label>
<p class="hint" id="email-hint">${texts.emailHint}</p>
${isRejected && html`<p class="problem" id="email-problem">${icons.danger}<span>${texts.emailProblem}</span></p>`}
<input id="email" name="email" type="email" dir="ltr" required maxlength="${emailCharactersMax}" autocomplete="email" aria-describedby="email-hint${isRejected && " email-problem"}"${isRejected && html` value="${rejectedEmail}" aria-invalid="true" autofocus`}>
<button class="primary">${texts.send}</button>
</form>`;
}

function headerOf({ language, path }: ReceiptPageOptions): Html {
  return html`<header>
<div class="brand"><span class="mark" aria-hidden="true">${logo}</span><span>Amana</span></div>
${languageLinks(language, receiptTexts[language].chooseLanguage, (linked) => `${path}?lang=${linked}`)}
</header>`;
}
