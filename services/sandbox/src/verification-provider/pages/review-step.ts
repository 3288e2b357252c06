import { type Html, html } from "@amana/pages";
import { form } from "../../pages/parts.ts";
import { checkedItem, type FlowView, flowStep, undoForm } from "./parts.ts";

export function reviewStep(view: FlowView): Html {
  const { application, words } = view;
  const { document, recording } = application.steps;
  const item = (step: string, completedStep: string, detail?: string) => html`<li>${checkedItem(completedStep, detail)}
${undoForm(view, step, words.change, words.changeOf(completedStep))}</li>`;
  const recorded = recording === "still" ? words.stillDone : words.videoDone;
  return flowStep(
    view,
    "review",
    html`<h1>${words.reviewTitle}</h1>
<p class="lead">${words.reviewText}</p>
<ul class="review-list">
${item("document", words.documentDone, document && words.documents[document])}
${item("front", document === "passport" ? words.passportDone : words.frontDone)}
${document === "id_card" && item("back", words.backDone)}
${item(application.requireVideo ? "recording" : "choice", recorded)}
</ul>
${form(view, "send", words.send)}
<p class="note attempts">${words.sendNote}</p>`,
  );
}
