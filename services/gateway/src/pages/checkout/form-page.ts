import { CustomerFieldRule, type PaymentLink } from "@amana/contracts/payments/v1/payment_link_pb";
import {
  direction,
  field,
  fieldProblem,
  formatAmount,
  type Html,
  html,
  icons,
  problemAttributes,
  problemSummary,
} from "@amana/pages";
import { type BuyerErrors, type BuyerField, isFieldShown, type SubmittedForm } from "../../checkout/buyer-form.ts";
import { type CheckoutPage, captchaLanguage, foreignText, type ShownLink, type View } from "./layout.ts";
import { errorText, rangeOf } from "./parts.ts";

/** The form with which a buyer starts a payment. */
interface FormPage extends ShownLink {
  readonly typed: SubmittedForm;
  readonly errors: BuyerErrors;
  /** JSON of the challenge. Undefined if the deployment requires no proof of work. */
  readonly challenge: string | undefined;
  readonly formOrigins: readonly string[];
  /** True if the deployment serves the official marks of the cards. */
  readonly hasMarkFiles: boolean;
}

/** Order of the fields on the page. */
const fields: readonly BuyerField[] = ["amount", "name", "email", "phone", "conditions", "captcha"];

export function formPage(view: View, page: FormPage): CheckoutPage {
  const { link, errors, challenge, businessName } = page;
  const first = fields.find((name) => errors[name] !== undefined);
  return {
    status: first === undefined ? 200 : 422,
    title: first === undefined ? link.name : `${view.texts.form.errorSummary} · ${link.name}`,
    formOrigins: page.formOrigins,
    hasCaptcha: challenge !== undefined,
    main: html`${first !== undefined && problemsOf(view, page)}
${summary(view, link, businessName)}
<form method="post" action="/pay/${page.linkToken}" novalidate data-once>
<input type="hidden" name="form_token" value="${page.typed.formToken}">
<input type="hidden" name="lang" value="${view.language}">
${page.typed.isRestart && html`<input type="hidden" name="begin_again" value="1">`}
${inputs(view, page, first)}
${conditions(view, page, first === "conditions")}
${challenge !== undefined && captcha(view, challenge)}
<p class="form-status" role="status" data-status data-wait="${view.texts.form.captchaWait}" data-failed="${view.texts.form.captchaFailed}"></p>
<button class="primary pay">${payLabel(view, page)}</button>
<p class="note">${view.texts.form.nextStep}</p>
</form>`,
  };
}

/** Renders the summary of a link: seller, name, description, amount and reference. */
function summary({ language, texts }: View, link: PaymentLink, businessName: string): Html {
  const { amountMinor, description, orderRef } = link;
  return html`<section class="card summary">
<p class="seller"><span>${texts.seller}</span> <strong>${foreignText(businessName)}</strong></p>
<h1>${foreignText(link.name)}</h1>
${description && html`<p class="description">${foreignText(description)}</p>`}
${
  amountMinor !== undefined &&
  html`<p class="amount"><span>${texts.amount}</span> <strong>${formatAmount(amountMinor, language)}</strong></p>`
}
${orderRef && html`<p class="reference"><span>${texts.orderRef}</span> ${foreignText(orderRef)}</p>`}
</section>`;
}

function problemsOf(view: View, { errors, link }: FormPage): Html {
  const range = rangeOf(link, view.language);
  const item = (name: BuyerField) => {
    const error = errors[name];
    const text = error && errorText(view.texts, error, range);
    return text === undefined ? html`` : html`<li>${name === "captcha" ? text : html`<a href="#${name}">${text}</a>`}</li>`;
  };
  return problemSummary(html`<p><strong>${view.texts.form.errorSummary}</strong></p>`, html`<ul>${fields.map(item)}</ul>`);
}

function inputs(view: View, { link, typed, errors }: FormPage, first: BuyerField | undefined): Html {
  const { form } = view.texts;
  const range = rangeOf(link, view.language);
  const rules = link.customerFields;
  const input = (id: "amount" | "name" | "email" | "phone", label: string, hint: string, attributes: Html) => {
    const error = errors[id];
    const isRequired = id === "amount" || rules?.[id] === CustomerFieldRule.REQUIRED;
    return field({
      id,
      label,
      hint,
      optional: isRequired ? undefined : form.optional,
      problem: error && errorText(view.texts, error, range),
      isFocused: first === id,
      attributes: html`value="${typed[id]}" ${attributes}${isRequired && html` aria-required="true"`}`,
    });
  };
  const shown = (["name", "email", "phone"] as const).filter((name) => isFieldShown(rules, name));
  const ltr = html`dir="ltr"`;
  return html`${
    link.amountMinor === undefined &&
    input(
      "amount",
      form.amountLabel,
      form.amountHint(...range),
      html`${ltr} inputmode="decimal" autocomplete="transaction-amount"`,
    )
  }
${
  shown.length > 0 &&
  html`<fieldset><legend>${form.yourDetails}</legend>
${shown.includes("name") && input("name", form.name, form.nameHint, html`dir="auto" autocomplete="name"`)}
${shown.includes("email") && input("email", form.email, form.emailHint, html`${ltr} type="email" inputmode="email" autocomplete="email"`)}
${shown.includes("phone") && input("phone", form.phone, form.phoneHint, html`${ltr} type="tel" inputmode="tel" autocomplete="tel"`)}
</fieldset>`
}`;
}

function conditions({ texts }: View, { link, typed, errors }: FormPage, isFocused: boolean): Html {
  const error = errors.conditions && texts.errors.conditions_missing;
  const { conditionsUrl } = link;
  return html`<div class="conditions${error && " invalid"}">
${error && fieldProblem("conditions", error)}
<label class="check"><input type="checkbox" id="conditions" name="conditions" value="1" aria-required="true"${error && html` aria-describedby="conditions-problem"`}${typed.acceptsConditions && html` checked`}${problemAttributes(error !== undefined, isFocused)}>
<span>${texts.form.conditions}</span></label>
${
  conditionsUrl &&
  html`<p class="conditions-link"><a href="${conditionsUrl}" target="_blank" rel="noopener noreferrer">${texts.form.sellerConditions} (${texts.form.opensInNewTab})</a></p>`
}
</div>`;
}

function captcha({ language, texts }: View, challenge: string): Html {
  const configuration = JSON.stringify({ hideLogo: true, hideFooter: true, humanInteractionSignature: false });
  return html`<div class="captcha" role="group" aria-label="${texts.form.captcha}" dir="${direction[language]}">
<altcha-widget name="altcha" auto="onload" language="${captchaLanguage[language]}" challenge="${challenge}" configuration="${configuration}"></altcha-widget>
<noscript><p class="problem">${icons.danger}<span>${texts.form.withoutScript}</span></p></noscript>
</div>`;
}

const wordMarks = html`<bdi class="card-mark">CIB</bdi> <bdi class="card-mark">EDAHABIA</bdi>`;
const markFiles = html`<img src="/assets/cib.svg" alt="CIB" height="28"> <img src="/assets/edahabia.svg" alt="EDAHABIA" height="28">`;

function payLabel({ language, texts }: View, { link: { amountMinor }, hasMarkFiles }: FormPage): Html {
  const label = amountMinor === undefined ? texts.form.pay : texts.form.payAmount(formatAmount(amountMinor, language));
  return html`<span>${label}</span>
<span class="cards"><span class="visually-hidden">${texts.form.cards}</span> ${hasMarkFiles ? markFiles : wordMarks}</span>`;
}
