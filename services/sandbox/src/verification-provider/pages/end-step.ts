import { type Html, html } from "../../pages/html.ts";
import { type IconName, icons } from "../../pages/icons.ts";
import { attemptsLeft } from "../application.ts";
import { actionOf, pathOf, type View } from "./view.ts";

const returnAfterSeconds = 15;

interface End {
  readonly tone: IconName;
  readonly title: string;
  readonly text: string;
}

/** How it ended, or why the link leads nowhere, and what to do next. */
export function endStep(view: View): Html {
  const { application, words } = view;
  const { tone, title, text } = endOf(view);
  const completed = application.status === "COMPLETED";
  const retry = application.status === "FAILED" && attemptsLeft(application) > 0;
  return html`<section class="card outcome ${tone}">
<div class="verdict">${icons[tone]}<h1>${title}</h1></div>
<p class="verdict-text">${text}</p>
${application.verdict === "REJECTED" && html`<ul class="reasons">${application.reasons.map(({ code }) => html`<li>${words.reasons[code]}</li>`)}</ul>`}
${
  retry &&
  html`<form method="post" action="${actionOf(view, "retry")}" data-once><button class="primary">${words.retry}</button></form>
<p class="note attempts">${words.attemptsLeft(attemptsLeft(application))}</p>`
}
${completed && html`<p class="note">${words.finished}</p>`}
${application.redirectUrl !== undefined && way(view, completed, retry)}
</section>`;
}

export function endOf({ application, words }: View): End {
  const { status, verdict } = application;
  if (status === "CANCELED") return { tone: "warning", title: words.canceledTitle, text: words.canceledText };
  if (status === "EXPIRED") return { tone: "warning", title: words.expiredTitle, text: words.expiredText };
  if (status === "FAILED") {
    if (attemptsLeft(application) > 0) return { tone: "warning", title: words.failedTitle, text: words.failedText };
    return { tone: "danger", title: words.usedUpTitle, text: words.usedUpText };
  }
  if (verdict === "APPROVED") return { tone: "success", title: words.approvedTitle, text: words.approvedText };
  if (verdict === "REJECTED") return { tone: "danger", title: words.rejectedTitle, text: words.rejectedText };
  return { tone: "waiting", title: words.lookingTitle, text: words.lookingText };
}

function way({ application, words }: View, byItself: boolean, second: boolean): Html {
  return html`<div class="actions"${byItself && html` data-return-after="${returnAfterSeconds}"`}>
<a class="button ${second ? "secondary" : "primary"}" href="${pathOf(application)}/return" data-return>${words.leave}</a>
${
  byItself &&
  html`<p class="return-notice" data-scripted hidden><span>${words.leaveAutomatically} <bdi class="digits" data-return-count>${returnAfterSeconds}</bdi></span>
<button type="button" class="quiet" data-stay>${words.stay}</button></p>`
}
</div>`;
}
