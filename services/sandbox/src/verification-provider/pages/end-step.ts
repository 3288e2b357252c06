import { type Html, html } from "@amana/pages";
import { form, type Verdict, verdictCard, wayBack } from "../../pages/parts.ts";
import { attemptsLeft } from "../application.ts";
import type { FlowView } from "./parts.ts";

/** How it ended, or why the link leads nowhere, and what to do next. */
export function endStep(view: FlowView): Html {
  const { application, words } = view;
  const { status, verdict, reasons, redirectUrl } = application;
  const left = attemptsLeft(application);
  const retry = status === "FAILED" && left > 0;
  const byItself = status === "COMPLETED";
  const button = retry ? "secondary" : "primary";
  return verdictCard(
    endOf(view),
    html`${verdict === "REJECTED" && html`<ul class="reasons">${reasons.map(({ code }) => html`<li>${words.reasons[code]}</li>`)}</ul>`}
${retry && form(view, "retry", words.retry)}
${retry && html`<p class="note attempts">${words.attemptsLeft(left)}</p>`}
${byItself && html`<p class="note">${words.finished}</p>`}
${redirectUrl !== undefined && wayBack(view, { label: words.leave, byItself, button })}`,
  );
}

export function endOf({ application, words }: FlowView): Verdict {
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
