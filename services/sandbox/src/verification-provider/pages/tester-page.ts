import { field, type Html, html, icons, problemSummary } from "@amana/pages";
import type { FastifyInstance, FastifyReply } from "fastify";
import { refuse } from "../../edge.ts";
import { hostedPage } from "../../pages/hosted-page.ts";
import { sendPage } from "../../pages/layout.ts";
import { actionOf, form } from "../../pages/parts.ts";
import { isLinkUsable } from "../application.ts";
import type { Provider } from "../provider.ts";
import { readSubmission } from "../read-submission.ts";
import { outcomes, reasonCodes } from "../vocabulary.ts";
import { words } from "../words/words.ts";
import { type FlowView, radio } from "./parts.ts";

/** Registers the page on which a tester chooses the result of the next submission. */
export function testerPage(
  app: FastifyInstance,
  applications: Provider["applications"],
  find: (linkToken: string) => Omit<FlowView, "words" | "path"> | undefined,
): void {
  const route = hostedPage<FlowView>(app, {
    path: "/sandbox/kyc",
    words,
    find,
    unknown: (reply) => reply.send(refuse(reply, 404, "unknown_link", "The sandbox has no verification with this link.")),
  });

  route("GET", "/tester", (reply, view, { query }) => show(reply, view, query.saved !== undefined));

  route("POST", "/tester", (reply, view, { body }) => {
    const { application } = view;
    const fields = Object.fromEntries(Object.entries(body ?? {}).filter(([, value]) => value !== ""));
    const { aml_hit_count: hits, nationality } = fields;
    const settings = readSubmission(
      {
        ...fields,
        reason_codes: [fields["reason_codes"] ?? []].flat(),
        ...(hits !== undefined && { aml_hit_count: Number(hits) }),
        ...(typeof nationality === "string" && { nationality: nationality.toUpperCase() }),
      },
      application,
    );
    if ("problems" in settings) return show(reply, view, false, settings.problems);
    if (isLinkUsable(application)) {
      application.plan = settings.submission;
      applications.save(application);
    }
    return reply.redirect(`${actionOf(view, "tester")}&saved=1`, 303);
  });
}

function show(reply: FastifyReply, view: FlowView, isSaved: boolean, problems: readonly string[] = []): FastifyReply {
  const { application, language, words } = view;
  const { tester } = words;
  const { plan } = application;
  const list = html`<ul lang="en" dir="ltr">${problems.map((problem) => html`<li>${problem}</li>`)}</ul>`;
  const input = (id: string, label: string, hint: string, attributes: Html) =>
    field({ id, label, hint, attributes: html`dir="ltr" ${attributes}` });
  const fields = html`<fieldset><legend>${tester.outcome}</legend><div class="choices">
${radio("outcome", { value: "", label: tester.rules, hint: tester.rulesHint, checked: plan?.outcome === undefined })}
${outcomes.map((outcome) => radio("outcome", { value: outcome, label: tester.outcomes[outcome], checked: plan?.outcome === outcome }))}
</div></fieldset>
<fieldset><legend>${tester.reasons}</legend><div class="checks">
${reasonCodes.map(
  (
    code,
  ) => html`<label><input type="checkbox" name="reason_codes" value="${code}"${plan?.reasons.some((reason) => reason.code === code) && html` checked`}>
<span>${words.reasons[code]} <small><bdi>${code}</bdi></small></span></label>`,
)}
</div></fieldset>
${input("document_expiry", tester.expiry, tester.expiryHint, html`type="date" value="${plan?.documentExpiry}"`)}
${input("nationality", tester.nationality, tester.nationalityHint, html`value="${plan?.nationality}" maxlength="3" autocomplete="off"`)}
${input("aml_hit_count", tester.hits, tester.hitsHint, html`value="${plan?.amlHitCount ?? 0}" inputmode="numeric" maxlength="4" autocomplete="off"`)}`;
  const main = html`<section class="card tester">
<p class="tester-badge">${tester.badge}</p>
<h1>${tester.title}</h1>
<p>${tester.text}</p>
${isSaved && html`<p class="saved" role="status">${icons.success}<span>${tester.saved}</span></p>`}
${problems.length > 0 && problemSummary(html`<h2>${tester.problem}</h2>`, list, html`tabindex="-1" autofocus`)}
${form(view, "tester", tester.save, fields)}
<p class="undo"><a class="button quiet" href="/verify/${application.linkToken}?lang=${language}">${tester.backToPage}</a></p>
</section>`;
  const testerView = { ...view, path: `${view.path}/tester`, words: { ...words, title: tester.badge } };
  return sendPage(reply, testerView, main, { title: tester.title, status: problems.length > 0 ? 422 : 200 });
}
