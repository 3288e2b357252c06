import { type Html, html } from "@amana/pages";
import { type IconName, icons } from "./icons.ts";
import type { View } from "./layout.ts";

const returnAfterSeconds = 15;

/** Where a form of a page posts to; the language goes along. */
export const actionOf = ({ path, language }: View, step: string) => `${path}/${step}?lang=${language}`;

/** The form of a step with its button, of which a second press sends nothing. */
export function form(view: View, step: string, button: string, content?: Html, attributes?: Html): Html {
  return html`<form method="post" action="${actionOf(view, step)}" novalidate data-once ${attributes}>
${content}
<button class="primary">${button}</button>
</form>`;
}

export interface Field {
  readonly id: string;
  /** Where several forms of a page ask for the same; the id, unless given. */
  readonly name?: string;
  readonly label: string;
  readonly hint: string;
  readonly problem?: string | undefined;
  readonly focused?: boolean;
  /** Attributes that differ from field to field. */
  readonly attributes: Html;
}

/** A labelled input. The first one with a problem takes the focus, with or without a script. */
export function field({ id, name = id, label, hint, problem, focused = false, attributes }: Field): Html {
  const wrong = problem !== undefined;
  return html`<div class="field${wrong && " invalid"}">
<label for="${id}">${label}</label>
<p class="hint" id="${id}-hint">${hint}</p>
${wrong && html`<p class="problem" id="${id}-problem">${icons.danger}<span>${problem}</span></p>`}
<input id="${id}" name="${name}" dir="ltr" ${attributes} aria-describedby="${id}-hint${wrong && ` ${id}-problem`}"${wrong && html` aria-invalid="true"`}${focused && html` autofocus`}>
</div>`;
}

export function problemSummary(title: string, list: Html, attributes?: Html): Html {
  return html`<div class="problem-summary" role="alert" ${attributes}>
${icons.danger}
<div><h2>${title}</h2>
${list}</div>
</div>`;
}

export interface Verdict {
  readonly tone: IconName;
  readonly title: string;
  readonly text: string;
}

/** How it ended, and what follows from that. */
export function verdictCard({ tone, title, text }: Verdict, content?: Html): Html {
  return html`<section class="card outcome ${tone}">
<div class="verdict">${icons[tone]}<h1>${title}</h1></div>
<p class="verdict-text">${text}</p>
${content}
</section>`;
}

export interface WayBack {
  readonly label: string;
  /** Scripts lead back after a while, unless the reader wants to stay. */
  readonly byItself: boolean;
  readonly button: "primary" | "secondary";
  readonly more?: Html;
}

/** The way back to whoever sent the reader here. */
export function wayBack({ path, words }: View, { label, byItself, button, more }: WayBack): Html {
  return html`<div class="actions"${byItself && html` data-return-after="${returnAfterSeconds}"`}>
<a class="button ${button}" href="${path}/return" data-return>${label}</a>
${
  byItself &&
  html`<p class="return-notice" data-scripted hidden><span>${words.backAutomatically} <bdi class="digits" data-return-count>${returnAfterSeconds}</bdi></span>
<button type="button" class="quiet" data-stay>${words.stay}</button></p>`
}
${more}
</div>`;
}
