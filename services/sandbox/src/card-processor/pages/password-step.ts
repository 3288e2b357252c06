import { type Html, html } from "../../pages/html.ts";
import { passwordAttemptsMax } from "../order.ts";
import { cancelForm, errorSummary, field, orderSummary, timeLeft } from "./parts.ts";
import { actionOf, type View } from "./view.ts";

export function passwordStep(view: View): Html {
  const { order, words } = view;
  const problem = hasFailedPassword(view) ? words.problems.password_wrong : undefined;
  // The number of attempts left tells one submission from a repeated one, so that a double click uses up one attempt.
  return html`<h1>${words.title}</h1>
${errorSummary(words, problem === undefined ? [] : [{ fieldId: "password", text: problem }])}
${orderSummary(view)}
<section class="card" aria-labelledby="step">
<h2 id="step">${words.passwordStep}</h2>
${timeLeft(view)}
<p>${words.passwordIntro}</p>
<p class="chosen-card"><span>${words.card}</span> <bdi class="digits">${order.card?.maskedPan}</bdi></p>
<form method="post" action="${actionOf(view, "password")}" novalidate data-once>
<input type="hidden" name="attempts_left" value="${order.passwordAttemptsLeft}">
${field({
  id: "password",
  label: words.password,
  hint: words.passwordHint,
  problem,
  first: true,
  attributes: html`type="password" autocomplete="one-time-code" inputmode="numeric" maxlength="64"`,
})}
<p class="attempts">${words.attemptsLeft(order.passwordAttemptsLeft)}</p>
<button class="primary">${words.validate}</button>
</form>
${cancelForm(view)}
</section>`;
}

/** Attempts used up are the trace a wrong password leaves, so a reload still says what went wrong. */
export const hasFailedPassword = ({ order }: View) => order.status === 0 && order.passwordAttemptsLeft < passwordAttemptsMax;
