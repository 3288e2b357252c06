import { field, type Html, html } from "@amana/pages";
import { form } from "../../pages/parts.ts";
import { passwordAttemptsMax } from "../order.ts";
import { digits, type PaymentView, paymentStep } from "./parts.ts";

export function passwordStep(view: PaymentView): Html {
  const { order, words } = view;
  const problem = hasFailedPassword(view) ? words.problems.password_wrong : undefined;
  const password = field({
    id: "password",
    label: words.password,
    hint: words.passwordHint,
    problem,
    isFocused: true,
    attributes: html`dir="ltr" required type="password" autocomplete="one-time-code" inputmode="numeric" maxlength="64"`,
  });
  // The number of attempts identifies a submission, so that a double click uses only one attempt.
  const content = html`<input type="hidden" name="attempts_left" value="${order.passwordAttemptsLeft}">
${password}
<p class="attempts">${words.attemptsLeft(order.passwordAttemptsLeft)}</p>`;
  return paymentStep(
    view,
    words.passwordStep,
    problem === undefined ? [] : [{ fieldId: "password", text: problem }],
    html`<p>${words.passwordIntro}</p>
<p class="chosen-card"><span>${words.card}</span> ${digits(order.card?.maskedPan)}</p>
${form(view, "password", words.validate, content)}`,
  );
}

/**
 * Returns whether the last password was wrong. The result is derived from the remaining attempts,
 * so that a reload of the page still shows the error.
 */
export const hasFailedPassword = ({ order }: PaymentView) =>
  order.status === 0 && order.passwordAttemptsLeft < passwordAttemptsMax;
