import { type Html, html, type IconName, resultCard } from "@amana/pages";
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

export interface Verdict {
  readonly tone: IconName;
  readonly title: string;
  readonly text: string;
}

/** Renders the outcome of a flow and the content below it. */
export function verdictCard({ tone, title, text }: Verdict, content?: Html): Html {
  const body = html`<p class="verdict-text">${text}</p>
${content}`;
  return resultCard(tone, title, body);
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
