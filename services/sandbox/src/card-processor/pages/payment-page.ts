import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Html, html } from "../../pages/html.ts";
import { parseLanguage } from "../../pages/language.ts";
import { sendPage } from "../../pages/layout.ts";
import { digitsOf, matchCard } from "../card-entry.ts";
import { cancelOrder, chooseCard, enterPassword, redirectUrl } from "../order.ts";
import type { Processor } from "../processor.ts";
import { cardStep } from "./card-step.ts";
import { headingOf, outcomeStep } from "./outcome-step.ts";
import { hasFailedPassword, passwordStep } from "./password-step.ts";
import { pathOf, type View } from "./view.ts";
import { words } from "./words/words.ts";

interface PageRoute {
  Params: { mdOrder: string };
  Querystring: { lang?: string };
  Body: Record<string, unknown> | null;
}

type Turn = (view: View, typed: (name: string) => string, reply: FastifyReply) => FastifyReply | undefined;

/**
 * The hosted page. What it shows follows from the order alone, and every post ends in a redirect to it, so going
 * back, reloading or pressing twice can only show where the payment stands.
 */
export function paymentPage(app: FastifyInstance, { orders, clock }: Processor): void {
  const viewOf = ({ params, query }: FastifyRequest<PageRoute>): View | undefined => {
    const order = orders.byId(params.mdOrder);
    const language = order && (parseLanguage(query.lang) ?? order.language);
    return order && language && { order, language, words: words[language], nowMs: clock.nowMs() };
  };

  app.get<PageRoute>("/payment/pay/:mdOrder", (request, reply) => {
    const view = viewOf(request);
    return view ? showStep(reply, view) : showUnknown(reply, request);
  });

  app.get<PageRoute>("/payment/pay/:mdOrder/return", (request, reply) => {
    const view = viewOf(request);
    if (!view) return showUnknown(reply, request);
    reply.headers({ "referrer-policy": "no-referrer", "cache-control": "no-store" });
    return view.order.outcome ? reply.redirect(redirectUrl(view.order), 302) : backToPage(reply, view);
  });

  const turn = (step: string, take: Turn) => {
    const path = `/payment/pay/:mdOrder/${step}`;
    app.get<PageRoute>(path, (request, reply) => {
      const view = viewOf(request);
      return view ? backToPage(reply, view) : showUnknown(reply, request);
    });
    app.post<PageRoute>(path, (request, reply) => {
      const view = viewOf(request);
      if (!view) return showUnknown(reply, request);
      const typed = (name: string) => String(request.body?.[name] ?? "").slice(0, 64);
      const shown = view.order.status === 0 ? take(view, typed, reply) : undefined;
      return shown ?? backToPage(reply, view);
    });
  };

  turn("card", (view, typed, reply) => {
    if (view.order.card) return undefined;
    const entry = { pan: typed("pan"), expiry: typed("expiry"), cvv2: typed("cvv2") };
    const match = matchCard(entry);
    if ("problems" in match)
      return show(reply, view, cardStep(view, entry, match.problems), { title: view.words.errorTitle, status: 422 });
    chooseCard(view.order, match.card);
    orders.save(view.order);
    return undefined;
  });

  turn("password", ({ order, nowMs }, typed) => {
    if (typed("attempts_left") !== String(order.passwordAttemptsLeft)) return undefined;
    enterPassword(order, digitsOf(typed("password")), nowMs);
    orders.save(order);
    return undefined;
  });

  turn("cancel", ({ order, nowMs }) => {
    cancelOrder(order, nowMs);
    orders.save(order);
    return undefined;
  });
}

function showStep(reply: FastifyReply, view: View): FastifyReply {
  const { order, words } = view;
  if (order.outcome) return show(reply, view, outcomeStep(view), { title: headingOf(order, words).title });
  if (!order.card) return show(reply, view, cardStep(view), {});
  return show(reply, view, passwordStep(view), hasFailedPassword(view) ? { title: words.errorTitle } : {});
}

function show(reply: FastifyReply, view: View, main: Html, { title, status }: { title?: string; status?: number }): FastifyReply {
  const fullTitle = title === undefined ? view.words.title : `${title} · ${view.words.title}`;
  return sendPage(reply, { language: view.language, title: fullTitle, path: pathOf(view.order), main }, status);
}

const backToPage = (reply: FastifyReply, { order, language }: View) => reply.redirect(`${pathOf(order)}?lang=${language}`, 303);

function showUnknown(reply: FastifyReply, { query, params }: FastifyRequest<PageRoute>): FastifyReply {
  const language = parseLanguage(query.lang) ?? "fr";
  const { unknownTitle, unknownText } = words[language];
  const path = `/payment/pay/${encodeURIComponent(params.mdOrder)}`;
  const main = html`<section class="card"><h1>${unknownTitle}</h1><p>${unknownText}</p></section>`;
  return sendPage(reply, { language, title: unknownTitle, path, main }, 404);
}
