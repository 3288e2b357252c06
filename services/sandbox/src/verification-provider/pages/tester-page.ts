import type { FastifyInstance, FastifyReply } from "fastify";
import { type Html, html } from "../../pages/html.ts";
import { icons } from "../../pages/icons.ts";
import { sendPage } from "../../pages/layout.ts";
import { isUsable } from "../application.ts";
import type { Provider } from "../provider.ts";
import { readSubmission } from "../read-submission.ts";
import { outcomes, reasonCodes } from "../vocabulary.ts";
import { radio } from "./parts.ts";
import { pathOf, type View, viewOf } from "./view.ts";

interface TesterRoute {
  Params: { linkToken: string };
  Querystring: { lang?: string; saved?: string };
  Body: Record<string, string | string[]> | null;
}

/** Where a tester chooses how the next submission on the page ends. The applicant's page only links to it. */
export function testerPage(app: FastifyInstance, { applications }: Provider): void {
  const path = "/sandbox/kyc/:linkToken/tester";
  const unknown = (reply: FastifyReply) =>
    reply.code(404).send({ error: "unknown_link", message: "The sandbox knows no such verification." });

  app.get<TesterRoute>(path, ({ params, query }, reply) => {
    const view = viewOf(applications, params.linkToken, query.lang);
    return view ? show(reply, view, { saved: query.saved !== undefined }) : unknown(reply);
  });

  app.post<TesterRoute>(path, ({ params, query, body }, reply) => {
    const view = viewOf(applications, params.linkToken, query.lang);
    if (!view) return unknown(reply);
    const { application, language } = view;
    const typed = Object.fromEntries(Object.entries(body ?? {}).filter(([, value]) => value !== ""));
    const hits = typed["aml_hit_count"];
    const wish = readSubmission(
      {
        ...typed,
        reason_codes: [typed["reason_codes"] ?? []].flat(),
        ...(hits !== undefined && { aml_hit_count: Number(hits) }),
        ...(typeof typed["nationality"] === "string" && { nationality: typed["nationality"].toUpperCase() }),
      },
      application.profile,
    );
    if ("problems" in wish) return show(reply, view, { problems: wish.problems });
    if (isUsable(application)) {
      application.plan = wish.submission;
      applications.save(application);
    }
    return reply.redirect(`/sandbox/kyc/${application.linkToken}/tester?lang=${language}&saved=1`, 303);
  });
}

interface State {
  readonly saved?: boolean;
  readonly problems?: readonly string[];
}

function show(reply: FastifyReply, view: View, { saved = false, problems = [] }: State): FastifyReply {
  const { application, language, words } = view;
  const { tester } = words;
  const { plan } = application;
  const input = (id: string, label: string, hint: string, attributes: Html) => html`<div class="field">
<label for="${id}">${label}</label><p class="hint" id="${id}-hint">${hint}</p>
<input id="${id}" name="${id}" dir="ltr" aria-describedby="${id}-hint" ${attributes}></div>`;
  const main = html`<section class="card tester">
<p class="tester-badge">${tester.badge}</p>
<h1>${tester.title}</h1>
<p>${tester.text}</p>
${saved && html`<p class="saved" role="status">${icons.success}<span>${tester.saved}</span></p>`}
${problems.length > 0 && html`<div class="problem-summary" role="alert" tabindex="-1" autofocus>${icons.danger}<div><h2>${tester.problem}</h2><ul lang="en" dir="ltr">${problems.map((problem) => html`<li>${problem}</li>`)}</ul></div></div>`}
<form method="post" action="/sandbox/kyc/${application.linkToken}/tester?lang=${language}" novalidate data-once>
<fieldset><legend>${tester.outcome}</legend><div class="choices">
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
${input("aml_hit_count", tester.hits, tester.hitsHint, html`value="${plan?.amlHitCount ?? 0}" inputmode="numeric" maxlength="4" autocomplete="off"`)}
<button class="primary">${tester.save}</button>
</form>
<p class="undo"><a class="button quiet" href="${pathOf(application)}?lang=${language}">${tester.backToPage}</a></p>
</section>`;
  const page = {
    language,
    title: `${tester.title} · ${tester.badge}`,
    path: `/sandbox/kyc/${application.linkToken}/tester`,
    main,
  };
  return sendPage(reply, page, problems.length > 0 ? 422 : 200);
}
