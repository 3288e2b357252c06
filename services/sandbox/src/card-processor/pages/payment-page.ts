import { html, privateHeaders } from "@amana/pages";
import type { FastifyInstance, FastifyReply } from "fastify";
import { backToPage, hostedPage, sendUnknown } from "../../pages/hosted-page.ts";
import { sendPage } from "../../pages/layout.ts";
import { digitsOf, matchCard } from "../card-entry.ts";
import { cancelOrder, chooseCard, enterPassword, redirectUrl } from "../order.ts";
import type { Processor } from "../processor.ts";
import { words } from "../words/words.ts";
import { cardStep } from "./card-step.ts";
import { outcomeStep, verdictOf } from "./outcome-step.ts";
import type { PaymentView } from "./parts.ts";
import { hasFailedPassword, passwordStep } from "./password-step.ts";

/** Changes the order, or sends a page with the errors and returns the reply. */
type StepHandler = (view: PaymentView, readField: (name: string) => string, reply: FastifyReply) => FastifyReply | undefined;

/** Registers the payment page. Only the order's state decides which step the page shows. */
export function paymentPage(app: FastifyInstance, { orders, clock }: Processor): void {
  const route = hostedPage<PaymentView>(app, {
    path: "/payment/pay",
    words,
    find(orderId) {
      const order = orders.byId(orderId);
      return order && { order, language: order.language, nowMs: clock.nowMs() };
    },
    unknown: (reply, view) =>
      sendUnknown(
        reply,
        view,
        html`<section class="card"><h1>${view.words.unknownTitle}</h1><p>${view.words.unknownText}</p></section>`,
      ),
  });

  route("GET", "", showStep);

  route("GET", "/return", (reply, view) =>
    view.order.outcome ? reply.headers(privateHeaders).redirect(redirectUrl(view.order), 302) : backToPage(reply, view),
  );

  const postRoute = (step: string, handleStep: StepHandler) => {
    route("GET", `/${step}`, backToPage);
    route("POST", `/${step}`, (reply, view, { body }) => {
      if (view.order.status !== 0) return backToPage(reply, view);
      const pageReply = handleStep(view, (name) => String(body?.[name] ?? "").slice(0, 64), reply);
      if (pageReply) return pageReply;
      orders.save(view.order);
      return backToPage(reply, view);
    });
  };

  postRoute("card", (view, readField, reply) => {
    if (view.order.card) return undefined;
    const cardEntry = { pan: readField("pan"), expiry: readField("expiry"), cvv2: readField("cvv2") };
    const match = matchCard(cardEntry);
    if ("problems" in match) {
      const page = cardStep(view, cardEntry, match.problems);
      return sendPage(reply, view, page, { title: view.words.errorTitle, status: 422 });
    }
    chooseCard(view.order, match.card);
    return undefined;
  });

  postRoute("password", ({ order, nowMs }, readField) => {
    if (readField("attempts_left") === String(order.passwordAttemptsLeft)) {
      enterPassword(order, digitsOf(readField("password")), nowMs);
    }
    return undefined;
  });

  postRoute("cancel", ({ order, nowMs }) => {
    cancelOrder(order, nowMs);
    return undefined;
  });
}

function showStep(reply: FastifyReply, view: PaymentView): FastifyReply {
  const { order, words } = view;
  if (order.outcome) return sendPage(reply, view, outcomeStep(view), { title: verdictOf(view).title });
  if (!order.card) return sendPage(reply, view, cardStep(view));
  return sendPage(reply, view, passwordStep(view), hasFailedPassword(view) ? { title: words.errorTitle } : {});
}
