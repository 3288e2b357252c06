import { type Html, html, icons } from "@amana/pages";
import { form } from "../../pages/parts.ts";
import { drawings } from "./drawings.ts";
import { type FlowView, flowStep, radio } from "./parts.ts";

/** Renders the choice of a document. If only one document is allowed, it is preselected. */
export function documentStep(view: FlowView, missing = false): Html {
  const { application, words } = view;
  const allowed = application.allowedDocuments;
  const choices = allowed.map((type, index) =>
    radio("value", {
      value: type,
      label: words.documents[type],
      hint: words.documentHints[type],
      drawing: type === "passport" ? drawings.passport : drawings.front,
      checked: allowed.length === 1,
      focused: missing && index === 0,
    }),
  );
  const question = html`${missing && html`<p class="problem" id="problem" role="alert">${icons.danger}<span>${words.documentMissing}</span></p>`}
<div class="choices" role="radiogroup" aria-labelledby="question"${missing && html` aria-describedby="problem"`}>
${choices}
</div>`;
  return flowStep(
    view,
    "document",
    html`<h1 id="question">${words.documentTitle}</h1>
<p class="lead">${allowed.length === 1 ? words.documentOnly : words.documentText}</p>
${form(view, "document", words.next, question)}`,
  );
}
