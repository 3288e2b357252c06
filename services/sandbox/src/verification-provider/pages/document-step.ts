import { type Html, html } from "../../pages/html.ts";
import { icons } from "../../pages/icons.ts";
import { drawings } from "./drawings.ts";
import { flowStep, radio } from "./parts.ts";
import { actionOf, type View } from "./view.ts";

/** Only the documents that are allowed; when there is one, it is already chosen. */
export function documentStep(view: View, missing = false): Html {
  const { application, words } = view;
  const allowed = application.allowedDocuments;
  return flowStep(
    view,
    "document",
    html`<h1 id="question">${words.documentTitle}</h1>
<p class="lead">${allowed.length === 1 ? words.documentOnly : words.documentText}</p>
<form method="post" action="${actionOf(view, "document")}" novalidate data-once>
${missing && html`<p class="problem" id="problem" role="alert">${icons.danger}<span>${words.documentMissing}</span></p>`}
<div class="choices" role="radiogroup" aria-labelledby="question"${missing && html` aria-describedby="problem"`}>
${allowed.map((type, index) =>
  radio(
    "value",
    {
      value: type,
      label: words.documents[type],
      hint: words.documentHints[type],
      drawing: type === "passport" ? drawings.passport : drawings.front,
      checked: allowed.length === 1,
    },
    missing && index === 0,
  ),
)}
</div>
<button class="primary">${words.next}</button>
</form>`,
  );
}
