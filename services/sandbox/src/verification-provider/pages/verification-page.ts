import { type Html, html, privateHeaders } from "@amana/pages";
import type { FastifyInstance, FastifyReply } from "fastify";
import { backToPage, hostedPage, sendUnknown } from "../../pages/hosted-page.ts";
import { type PageOptions, sendPage } from "../../pages/layout.ts";
import { verdictCard } from "../../pages/parts.ts";
import { type Application, isBeingChecked, isLinkUsable, open, submit } from "../application.ts";
import type { Submission } from "../evaluate-submission.ts";
import type { Provider } from "../provider.ts";
import { words } from "../words/words.ts";
import { captureStep } from "./capture-step.ts";
import { choiceStep } from "./choice-step.ts";
import { documentStep } from "./document-step.ts";
import { endStep, verdictOf } from "./end-step.ts";
import { introStep } from "./intro-step.ts";
import { type FlowView, testerLink } from "./parts.ts";
import { progressStep } from "./progress-step.ts";
import { reviewStep } from "./review-step.ts";
import { addInput, clearStep, stepNumber, stepOf, stepsCount } from "./steps.ts";
import { testerPage } from "./tester-page.ts";

/** Duration of the simulated check, long enough for the applicant to see the progress page. */
const holdMs = 2_000;
const refreshSeconds = 2;

/** Registers the hosted flow. Only the application's state decides which step the page shows. */
export function verificationPage(app: FastifyInstance, { applications, clock }: Provider): void {
  const find = (linkToken: string) => {
    const application = applications.byLinkToken(linkToken);
    return application && { application, language: application.language };
  };
  const route = hostedPage<FlowView>(app, {
    path: "/verify",
    words,
    find,
    unknown(reply, view) {
      const { unknownTitle: title, unknownText: text } = view.words;
      return sendUnknown(reply, view, verdictCard({ tone: "warning", title, text }));
    },
  });

  route("GET", "", (reply, view, { method }) => {
    // HEAD requests come from mail filters and messengers, not from the applicant.
    if (method === "GET" && view.application.status === "CREATED") {
      open(view.application, clock.nowMs());
      applications.save(view.application);
    }
    return showStep(reply, view);
  });

  app.get<{ Params: { id: string } }>("/verify/:id/status", ({ params }, reply) => {
    const flow = find(params.id);
    reply.headers(privateHeaders).code(flow ? 200 : 404);
    return { waiting: flow !== undefined && isBeingChecked(flow.application) };
  });

  route("GET", "/return", (reply, view) => {
    const url = returnUrl(view.application);
    return url ? reply.headers(privateHeaders).redirect(url, 302) : backToPage(reply, view);
  });

  route("GET", "/:action", backToPage);

  route("POST", "/:action", (reply, view, { params: { action }, body }) => {
    const { application } = view;
    const value = String(body?.["value"] ?? "").slice(0, 64);
    if (!isLinkUsable(application)) return backToPage(reply, view);
    const hasFailed = application.status === "FAILED";
    // Only the retry button starts another attempt. A form of an older page in another tab has no
    // effect.
    if (hasFailed !== (action === "retry")) return backToPage(reply, view);
    open(application, clock.nowMs());
    if (hasFailed) application.steps = { started: true };
    else if (action === "undo") application.steps = clearStep(application.steps, value);
    else if (action === "send") {
      if (stepOf(application) === "review") submit(application, submissionOf(application), holdMs, clock.nowMs());
    } else application.steps = addInput(application, action, value);
    applications.save(application);
    if (action === "document" && stepOf(application) === "document") {
      return show(reply, view, documentStep(view, true), { title: view.words.errorTitle, status: 422 });
    }
    return backToPage(reply, view);
  });

  testerPage(app, applications, find);
}

/** Returns the submission that the tester planned, with the document that the applicant chose. */
function submissionOf({ plan, steps }: Application): Submission {
  const submission = plan ?? { reasons: [], amlHitCount: 0, profileDiffers: false };
  return { ...submission, ...(steps.document && { documentType: steps.document }) };
}

/** Returns the business's URL with the reference and the status, or undefined before the result. */
function returnUrl({ redirectUrl, reference, status }: Application): string | undefined {
  if (redirectUrl === undefined || status === "CREATED" || status === "OPENED") return undefined;
  const url = new URL(redirectUrl);
  url.searchParams.set("application_id", reference);
  url.searchParams.set("status", status);
  return url.href;
}

function showStep(reply: FastifyReply, view: FlowView): FastifyReply {
  const { application, words } = view;
  if (isBeingChecked(application)) {
    return show(reply, view, progressStep(view), { title: words.progressTitle, refreshSeconds });
  }
  if (application.status !== "OPENED" && application.status !== "CREATED") {
    const isUnusable = application.status === "CANCELED" || application.status === "EXPIRED";
    return show(reply, view, endStep(view), { title: verdictOf(view).title, status: isUnusable ? 410 : 200 });
  }
  const step = stepOf(application);
  const pageOptions = { title: words.step(stepNumber[step], stepsCount) };
  switch (step) {
    case "start":
      return show(reply, view, introStep(view));
    case "document":
      return show(reply, view, documentStep(view), pageOptions);
    case "choice":
      return show(reply, view, choiceStep(view), pageOptions);
    case "review":
      return show(reply, view, reviewStep(view), pageOptions);
    default:
      return show(reply, view, captureStep(view, step), { ...pageOptions, camera: true });
  }
}

function show(reply: FastifyReply, view: FlowView, main: Html, options: PageOptions = {}): FastifyReply {
  const content = isLinkUsable(view.application) ? html`${main}${testerLink(view)}` : main;
  return sendPage(reply, view, content, options);
}
