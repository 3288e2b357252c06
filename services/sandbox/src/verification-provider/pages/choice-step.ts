import { type Html, html } from "../../pages/html.ts";
import { flowStep, radio } from "./parts.ts";
import { actionOf, type View } from "./view.ts";

/** Where a video is not required: a still is quicker, but a person then always looks at it. */
export function choiceStep(view: View): Html {
  const { words } = view;
  return flowStep(
    view,
    "choice",
    html`<h1 id="question">${words.choiceTitle}</h1>
<form method="post" action="${actionOf(view, "choice")}" data-once>
<div class="choices" role="radiogroup" aria-labelledby="question">
${radio("value", { value: "video", label: words.choiceVideo, hint: words.choiceVideoHint, checked: true })}
${radio("value", { value: "still", label: words.choiceStill, hint: words.choiceStillHint })}
</div>
<button class="primary">${words.next}</button>
</form>`,
  );
}
