import { type Html, html, icons } from "@amana/pages";
import type { FlowView } from "./parts.ts";

export function progressStep({ language, words, path }: FlowView): Html {
  return html`<section class="card flow" data-wait-at="${path}/status">
<h1>${words.progressTitle}</h1>
<div role="status">
<p class="lead">${words.progressText}</p>
<ol class="stages">
<li class="done">${icons.success}<span>${words.stageSent}</span></li>
<li class="now" aria-current="step">${icons.waiting}<span>${words.stageChecked}</span></li>
</ol>
</div>
<div class="waiting-bar" aria-hidden="true"><span></span></div>
<p class="note attempts">${words.progressNote}</p>
<noscript><a class="button secondary" href="${path}?lang=${language}">${words.checkAgain}</a></noscript>
</section>`;
}
