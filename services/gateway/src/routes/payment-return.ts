import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { callOf } from "../call.ts";
import { headersOf, problemOf } from "../errors.ts";
import type { App, Gateway } from "../gateway.ts";
import { preferredLanguage } from "../pages/language.ts";
import { paragraphs, sendPage } from "../pages/page.ts";
import { returnTexts } from "../pages/return-texts.ts";
import { readAnyBodies } from "../plugins/any-bodies.ts";
import { limitKeyless } from "../plugins/limit-rate.ts";

/** The card processor is asked what became of the payment before the browser goes on. */
const confirmTimeoutMs = 36_000;
const formBytesMax = 64 * 1024;

/** Where the card processor sends the card holder's browser. The token is the proof. */
export async function paymentReturn(app: App, gateway: Gateway): Promise<void> {
  const { rpc, logger } = gateway;
  app.addHook("onRequest", limitKeyless(gateway));
  // Whatever form the processor's page posts is ignored.
  readAnyBodies(app, gateway);
  app.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error, request, logger);
    reply.removeHeader("connection");
    const { "retry-after": retryAfter } = headersOf(problem);
    if (retryAfter) reply.header("retry-after", retryAfter);
    return sendReturnPage(request, reply, problem.status);
  });

  const operation = (operationId: string, summary: string) => ({
    tags: ["Payments"],
    operationId,
    summary,
    description:
      "Redirects to `success_url` or `fail_url` with `payment_id` and `status` appended, after a query that is already " +
      "there. Needs no key.",
    security: [],
    params: Type.Object({ token: Type.String() }),
    response: { 303: Type.Null({ description: "On to the shop." }) },
  });
  const leadOn = async (request: FastifyRequest<{ Params: { token: string } }>, reply: FastifyReply) => {
    const { token } = request.params;
    const { redirectUrl } = await rpc.payments.returnFromProcessor({ token }, callOf(request, reply, confirmTimeoutMs));
    return reply.header("referrer-policy", "no-referrer").redirect(redirectUrl, 303);
  };

  const schema = operation("returnFromProcessor", "Bring the card holder back to the shop");
  app.get("/:token", { exposeHeadRoute: false, schema }, leadOn);
  const formSchema = operation("returnFromProcessorByForm", "Return from the card processor (form POST)");
  app.post("/:token", { bodyLimit: formBytesMax, schema: formSchema }, leadOn);
}

export function sendReturnPage(request: FastifyRequest, reply: FastifyReply, status: number): FastifyReply {
  const texts =
    status === 404 ? returnTexts.unknown : status >= 500 || status === 429 ? returnTexts.unavailable : returnTexts.refused;
  const language = preferredLanguage(request.headers["accept-language"]);
  const [title, ...text] = texts[language];
  return sendPage(reply, status, { language, title, content: paragraphs(text) });
}
