import { type Html, html } from "@amana/pages";
import { form } from "../../pages/parts.ts";
import { type FlowView, flowStep, radio } from "./parts.ts";

/**
 * Renders the choice between a video and a photograph. A photograph is quicker but always needs a
 * review.
 */
export function choiceStep(view: FlowView): Html {
  const { words } = view;
  const question = html`<div class="choices" role="radiogroup" aria-labelledby="question">
${radio("value", { value: "video", label: words.choiceVideo, hint: words.choiceVideoHint, checked: true })}
${radio("value", { value: "still", label: words.choiceStill, hint: words.choiceStillHint })}
</div>`;
  const content = html`<h1 id="question">${words.choiceTitle}</h1>
${form(view, "choice", words.next, question)}`;
  return flowStep(view, "choice", content);
}
