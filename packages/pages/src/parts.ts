import { type Html, html } from "./html.ts";
import { type IconName, icons } from "./icons.ts";

/** An input of a form. */
export interface Field {
  readonly id: string;
  /** Name of the field, if several forms have the same field. The default is the id. */
  readonly name?: string;
  readonly label: string;
  readonly hint: string;
  /** Text after the label of an optional field. */
  readonly optional?: string;
  /** Description of an invalid value. */
  readonly problem?: string;
  readonly isFocused?: boolean;
  /** Further attributes of the input element. */
  readonly attributes: Html;
}

/** Renders a labelled input. `isFocused` sets `autofocus`, which needs no script. */
export function field({ id, name = id, label, hint, optional, problem, isFocused = false, attributes }: Field): Html {
  const isInvalid = problem !== undefined;
  return html`<div class="field${isInvalid && " invalid"}">
<label for="${id}">${label}${optional !== undefined && html` <span class="optional">(${optional})</span>`}</label>
<p class="hint" id="${id}-hint">${hint}</p>
${isInvalid && fieldProblem(id, problem)}
<input id="${id}" name="${name}" ${attributes} aria-describedby="${id}-hint${isInvalid && ` ${id}-problem`}"${problemAttributes(isInvalid, isFocused)}>
</div>`;
}

/** Renders the problem of the field with this id. */
export const fieldProblem = (id: string, text: string): Html =>
  html`<p class="problem" id="${id}-problem">${icons.danger}<span>${text}</span></p>`;

/** Renders the attributes of an input with a problem. */
export const problemAttributes = (isInvalid: boolean, isFocused: boolean): Html =>
  html`${isInvalid && html` aria-invalid="true"`}${isFocused && html` autofocus`}`;

/** Renders the list of a form's problems, with a heading. */
export const problemSummary = (heading: Html, list: Html, attributes?: Html): Html =>
  html`<div class="problem-summary" role="alert" ${attributes}>
${icons.danger}
<div>${heading}
${list}</div>
</div>`;

/** Renders a result with the icon of its tone, and content below the heading. */
export const resultCard = (tone: IconName, title: string, content: Html, attributes?: Html): Html =>
  html`<section class="card outcome ${tone}"${attributes}>
<div class="verdict">${icons[tone]}<h1>${title}</h1></div>
${content}
</section>`;
