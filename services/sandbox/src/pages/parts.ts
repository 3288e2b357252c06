import { type Html, html, type IconName, icons } from "@amana/pages";
import type { View } from "./layout.ts";

const returnAfterSeconds = 15;

/** Returns the URL to which the form of a step posts, with the language. */
export const actionOf = ({ path, language }: View, step: string) => `${path}/${step}?lang=${language}`;

/** Renders the form of a step with its button. The script ignores a second click on the button. */
export function form(view: View, step: string, button: string, content?: Html, attributes?: Html): Html {
  return html`<form method="post" action="${actionOf(view, step)}" novalidate data-once ${attributes}>
${content}
<button class="primary">${button}</button>
</form>`;
}

export interface Field {
  readonly id: string;
  /** Name of the field, if several forms have the same field. The default is the id. */
  readonly name?: string;
  readonly label: string;
  readonly hint: string;
  readonly problem?: string | undefined;
  readonly focused?: boolean;
  /** Further attributes of the input element. */
  readonly attributes: Html;
}

/**
 * Renders a labelled input. `focused` sets `autofocus`, so that the browser focuses the input
 * without a script.
 */
export function field({ id, name = id, label, hint, problem, focused = false, attributes }: Field): Html {
  const isInvalid = problem !== undefined;
  return html`<div class="field${isInvalid && " invalid"}">
<label for="${id}">${label}</label>
<p class="hint" id="${id}-hint">${hint}</p>
${isInvalid && html`<p class="problem" id="${id}-problem">${icons.danger}<span>${problem}</span></p>`}
<input id="${id}" name="${name}" dir="ltr" ${attributes} aria-describedby="${id}-hint${isInvalid && ` ${id}-problem`}"${isInvalid && html` aria-invalid="true"`}${focused && html` autofocus`}>
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

/** Renders the outcome of a flow and the content below it. */
export function verdictCard({ tone, title, text }: Verdict, content?: Html): Html {
  return html`<section class="card outcome ${tone}">
<div class="verdict">${icons[tone]}<h1>${title}</h1></div>
<p class="verdict-text">${text}</p>
${content}
</section>`;
}

export interface ReturnLink {
  readonly label: string;
  /**
   * If true, the script follows the link after 15 seconds. The reader can choose to stay on the
   * page.
   */
  readonly isAutomatic: boolean;
  readonly button: "primary" | "secondary";
  readonly more?: Html;
}

/** Renders the link to the shop or business that sent the reader. */
export function returnLink({ path, words }: View, { label, isAutomatic, button, more }: ReturnLink): Html {
  return html`<div class="actions"${isAutomatic && html` data-return-after="${returnAfterSeconds}"`}>
<a class="button ${button}" href="${path}/return" data-return>${label}</a>
${
  isAutomatic &&
  html`<p class="return-notice" data-scripted hidden><span>${words.backAutomatically} <bdi class="digits" data-return-count>${returnAfterSeconds}</bdi></span>
<button type="button" class="quiet" data-stay>${words.stay}</button></p>`
}
${more}
</div>`;
}
