import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Html, html } from "../../pages/html.ts";
import { icons } from "../../pages/icons.ts";
import { parseLanguage } from "../../pages/language.ts";
import { sendPage } from "../../pages/layout.ts";
import { type Application, isBeingChecked, isUsable, open, submit } from "../application.ts";
import type { Submission } from "../conclude.ts";
import type { Provider } from "../provider.ts";
import { photoStep, recordingStep } from "./capture-step.ts";
import { choiceStep } from "./choice-step.ts";
import { documentStep } from "./document-step.ts";
import { endOf, endStep } from "./end-step.ts";
import { introStep } from "./intro-step.ts";
import { testerLink } from "./parts.ts";
import { progressStep } from "./progress-step.ts";
import { reviewStep } from "./review-step.ts";
import { stepNumber, stepOf, stepsCount, take, undo } from "./steps.ts";
import { testerPage } from "./tester-page.ts";
import { pathOf, type View, viewOf } from "./view.ts";
import { words } from "./words/words.ts";

interface PageRoute {
  Params: { linkToken: string; action: string };
  Querystring: { lang?: string };
  Body: Record<string, unknown> | null;
}

/** Long enough to see that something is being checked. */
const holdMs = 2_000;
const refreshSeconds = 2;

const privately = { "referrer-policy": "no-referrer", "cache-control": "no-store" };

/**
 * The hosted flow. What it shows follows from the application alone, and every post ends in a redirect to it, so
 * going back, reloading or pressing twice can only show where the verification stands.
 */
export function verificationPage(app: FastifyInstance, provider: Provider): void {
  const { applications, clock } = provider;
  const seen = ({ params, query }: FastifyRequest<PageRoute>) => viewOf(applications, params.linkToken, query.lang);

  app.get<PageRoute>("/verify/:linkToken", (request, reply) => {
    const view = seen(request);
    if (!view) return showUnknown(reply, request);
    // A look at the headers only, by a mail filter or a messenger, is not an applicant.
    if (request.method === "GET" && view.application.status === "CREATED") {
      open(view.application, clock.nowMs());
      applications.save(view.application);
    }
    return show(reply, view);
  });

  app.get<PageRoute>("/verify/:linkToken/status", (request, reply) => {
    const view = seen(request);
    reply.headers(privately);
    return view ? { waiting: isBeingChecked(view.application) } : reply.code(404).send({ waiting: false });
  });

  app.get<PageRoute>("/verify/:linkToken/return", (request, reply) => {
    const view = seen(request);
    if (!view) return showUnknown(reply, request);
    const url = returnUrl(view.application);
    return url ? reply.headers(privately).redirect(url, 302) : backToPage(reply, view);
  });

  app.get<PageRoute>("/verify/:linkToken/:action", (request, reply) => {
    const view = seen(request);
    return view ? backToPage(reply, view) : showUnknown(reply, request);
  });

  app.post<PageRoute>("/verify/:linkToken/:action", (request, reply) => {
    const view = seen(request);
    if (!view) return showUnknown(reply, request);
    const { application } = view;
    const { action } = request.params;
    const value = String(request.body?.["value"] ?? "").slice(0, 64);
    if (!isUsable(application)) return backToPage(reply, view);
    const failed = application.status === "FAILED";
    // An attempt that failed is begun again on purpose, never by an old page in another tab.
    if (failed !== (action === "retry")) return backToPage(reply, view);
    open(application, clock.nowMs());
    if (failed) application.steps = { started: true };
    else if (action === "undo") application.steps = undo(application.steps, value);
    else if (action === "send") {
      if (stepOf(application) === "review") submit(application, submissionOf(application), holdMs, clock.nowMs());
    } else application.steps = take(application, action, value);
    applications.save(application);
    if (action === "document" && stepOf(application) === "document") {
      return showPage(reply, view, documentStep(view, true), { title: view.words.errorTitle, status: 422 });
    }
    return backToPage(reply, view);
  });

  testerPage(app, provider);
}

/** What the tester chose, of the document the applicant chose. */
function submissionOf({ plan, steps }: Application): Submission {
  const chosen = plan ?? { reasons: [], amlHitCount: 0, profileDiffers: false };
  return { ...chosen, ...(steps.document && { documentType: steps.document }) };
}

/** Where the applicant goes when nothing is left to do: a query the business put there itself is kept. */
function returnUrl(application: Application): string | undefined {
  const { redirectUrl, reference, status } = application;
  if (redirectUrl === undefined || status === "CREATED" || status === "OPENED") return undefined;
  const url = new URL(redirectUrl);
  url.searchParams.set("application_id", reference);
  url.searchParams.set("status", status);
  return url.href;
}

function show(reply: FastifyReply, view: View): FastifyReply {
  const { application, words } = view;
  if (isBeingChecked(application)) {
    return showPage(reply, view, progressStep(view), { title: words.progressTitle, refreshSeconds });
  }
  if (application.status !== "OPENED" && application.status !== "CREATED") {
    const dead = application.status === "CANCELED" || application.status === "EXPIRED";
    return showPage(reply, view, endStep(view), { title: endOf(view).title, status: dead ? 410 : 200 });
  }
  const step = stepOf(application);
  const numbered = { title: words.step(stepNumber[step], stepsCount) };
  switch (step) {
    case "intro":
      return showPage(reply, view, introStep(view), {});
    case "document":
      return showPage(reply, view, documentStep(view), numbered);
    case "choice":
      return showPage(reply, view, choiceStep(view), numbered);
    case "review":
      return showPage(reply, view, reviewStep(view), numbered);
    case "recording":
      return showPage(reply, view, recordingStep(view), { ...numbered, camera: true });
    default:
      return showPage(reply, view, photoStep(view, step), { ...numbered, camera: true });
  }
}

interface Shown {
  readonly title?: string;
  readonly status?: number;
  readonly camera?: boolean;
  readonly refreshSeconds?: number;
}

function showPage(reply: FastifyReply, view: View, main: Html, { title, status, ...options }: Shown): FastifyReply {
  const { application, language, words } = view;
  const fullTitle = title === undefined ? words.title : `${title} · ${words.title}`;
  const whole = isUsable(application) ? html`${main}${testerLink(view)}` : main;
  return sendPage(reply, { language, title: fullTitle, path: pathOf(application), main: whole, ...options }, status);
}

const backToPage = (reply: FastifyReply, { application, language }: View) =>
  reply.headers(privately).redirect(`${pathOf(application)}?lang=${language}`, 303);

function showUnknown(reply: FastifyReply, { query, params }: FastifyRequest<PageRoute>): FastifyReply {
  const language = parseLanguage(query.lang) ?? "fr";
  const { unknownTitle, unknownText } = words[language];
  const main = html`<section class="card outcome warning"><div class="verdict">${icons.warning}<h1>${unknownTitle}</h1></div>
<p class="verdict-text">${unknownText}</p></section>`;
  return sendPage(reply, { language, title: unknownTitle, path: `/verify/${encodeURIComponent(params.linkToken)}`, main }, 404);
}
