import { type Html, html } from "../../pages/html.ts";
import { icons } from "../../pages/icons.ts";
import { formatDate } from "../../pages/language.ts";
import { attemptsLeft } from "../application.ts";
import { actionOf, type View } from "./view.ts";

export function introStep(view: View): Html {
  const { application, language, words } = view;
  const promises = [
    [words.needTitle, application.requireVideo ? words.needVideo : words.needPicture],
    [words.whyTitle, words.whyText],
    [words.picturesTitle, words.picturesText],
    [words.timeTitle, words.timeText(formatDate(application.linkExpiresAtMs, language))],
  ];
  return html`<section class="card flow">
<h1>${words.introTitle}</h1>
<p class="lead">${words.introText}</p>
<ul class="promises">
${promises.map(([title, text]) => html`<li>${icons.success}<div><strong>${title}</strong><span>${text}</span></div></li>`)}
</ul>
<form method="post" action="${actionOf(view, "start")}" data-once>
<button class="primary">${words.start}</button>
</form>
<p class="note attempts">${words.attemptsLeft(attemptsLeft(application))}</p>
</section>`;
}
