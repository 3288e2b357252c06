import { type Html, html, icons } from "@amana/pages";
import type { View } from "../../pages/layout.ts";
import { actionOf } from "../../pages/parts.ts";
import type { Application } from "../application.ts";
import type { Words } from "../words/fr.ts";
import { type Step, stepBefore, stepNumber, stepsCount } from "./steps.ts";

export interface FlowView extends View<Words> {
  readonly application: Application;
}

/** Renders a page of the flow: the step number, one decision, and the button to go back. */
export function flowStep(view: FlowView, step: Step, content: Html): Html {
  const { words } = view;
  const number = stepNumber[step];
  return html`<section class="card flow">
<div class="steps"><p>${words.step(number, stepsCount)}</p>
<div class="step-bar" aria-hidden="true">${Array.from({ length: stepsCount }, (_, index) => html`<span${index < number && html` class="done"`}></span>`)}</div></div>
${content}
${undoForm(view, stepBefore(view.application, step), words.back)}
</section>`;
}

export function undoForm(view: FlowView, step: string, label: string, accessibleName = label): Html {
  return html`<form class="undo" method="post" action="${actionOf(view, "undo")}">
<input type="hidden" name="value" value="${step}">
<button class="quiet"${accessibleName !== label && html` aria-label="${accessibleName}"`}>${label}</button>
</form>`;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
  readonly drawing?: Html;
  readonly checked?: boolean;
  readonly focused?: boolean;
}

export function radio(name: string, { value, label, hint, drawing, checked = false, focused = false }: Choice): Html {
  return html`<label class="choice"><input type="radio" name="${name}" value="${value}" required${checked && html` checked`}${focused && html` autofocus`}>
<span><strong>${label}</strong>${hint !== undefined && html`<small>${hint}</small>`}</span>${drawing}</label>`;
}

/** Renders a list item with a check mark. */
export function checkedItem(title: string, text?: string): Html {
  return html`${icons.success}<div><strong>${title}</strong>${text !== undefined && html`<span>${text}</span>`}</div>`;
}

/** Renders the link to the tester's page, separate from the content for the applicant. */
export function testerLink({ application, language, words }: FlowView): Html {
  return html`<aside class="tester-link" aria-label="${words.tester.badge}"><a href="/sandbox/kyc/${application.linkToken}/tester?lang=${language}">${words.tester.link}</a></aside>`;
}
