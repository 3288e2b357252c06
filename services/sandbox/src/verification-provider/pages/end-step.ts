import { type Html, html } from "@amana/pages";
import { form, returnLink, type Verdict, verdictCard } from "../../pages/parts.ts";
import { attemptsLeft } from "../application.ts";
import type { FlowView } from "./parts.ts";

/** Renders the result, or the reason why the link is no longer usable, with the next step. */
export function endStep(view: FlowView): Html {
  const { application, words } = view;
  const { status, verdict, reasons, redirectUrl } = application;
  const remainingAttempts = attemptsLeft(application);
  const retry = status === "FAILED" && remainingAttempts > 0;
  const isAutomatic = status === "COMPLETED";
  const button = retry ? "secondary" : "primary";
  return verdictCard(
    verdictOf(view),
    html`${verdict === "REJECTED" && html`<ul class="reasons">${reasons.map(({ code }) => html`<li>${words.reasons[code]}</li>`)}</ul>`}
${retry && form(view, "retry", words.retry)}
${retry && html`<p class="note attempts">${words.attemptsLeft(remainingAttempts)}</p>`}
${isAutomatic && html`<p class="note">${words.finished}</p>`}
${redirectUrl !== undefined && returnLink(view, { label: words.leave, isAutomatic, button })}`,
  );
}

export function verdictOf({ application, words }: FlowView): Verdict {
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
