import { type Html, html } from "../../pages/html.ts";
import { icons } from "../../pages/icons.ts";
import { flowStep, undoForm } from "./parts.ts";
import { actionOf, type View } from "./view.ts";

export function reviewStep(view: View): Html {
  const { application, words } = view;
  const { document, recording } = application.steps;
  const recorded = recording === "still" ? words.stillDone : words.videoDone;
  const items = [
    { what: "document", done: words.documentDone, detail: document && words.documents[document] },
    { what: "front", done: document === "passport" ? words.passportDone : words.frontDone },
    ...(document === "id_card" ? [{ what: "back", done: words.backDone }] : []),
    { what: application.requireVideo ? "recording" : "choice", done: recorded },
  ];
  return flowStep(
    view,
    "review",
    html`<h1>${words.reviewTitle}</h1>
<p class="lead">${words.reviewText}</p>
<ul class="review-list">
${items.map(
  ({
    what,
    done,
    detail,
  }: {
    what: string;
    done: string;
    detail?: string | undefined;
  }) => html`<li>${icons.success}<div><strong>${done}</strong>${detail !== undefined && html`<span>${detail}</span>`}</div>
${undoForm(view, what, words.change, words.changeOf(done))}</li>`,
)}
</ul>
<form method="post" action="${actionOf(view, "send")}" data-once>
<button class="primary">${words.send}</button>
</form>
<p class="note attempts">${words.sendNote}</p>`,
  );
}
