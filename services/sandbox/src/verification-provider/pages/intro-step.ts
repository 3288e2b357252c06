import { formatDate, type Html, html } from "@amana/pages";
import { form } from "../../pages/parts.ts";
import { attemptsLeft } from "../application.ts";
import { checkedItem, type FlowView } from "./parts.ts";

export function introStep(view: FlowView): Html {
  const { application, language, words } = view;
  const validUntil = words.timeText(formatDate(application.linkExpiresAtMs, language));
  return html`<section class="card flow">
<h1>${words.introTitle}</h1>
<p class="lead">${words.introText}</p>
<ul class="promises">
<li>${checkedItem(words.needTitle, application.requireVideo ? words.needVideo : words.needPicture)}</li>
<li>${checkedItem(words.whyTitle, words.whyText)}</li>
<li>${checkedItem(words.picturesTitle, words.picturesText)}</li>
<li>${checkedItem(words.timeTitle, validUntil)}</li>
</ul>
${form(view, "start", words.start)}
<p class="note attempts">${words.attemptsLeft(attemptsLeft(application))}</p>
</section>`;
}
