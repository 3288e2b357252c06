import { preferredLanguage } from "@amana/pages";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { callOf } from "../call.ts";
import { createErrorPageHandler } from "../errors.ts";
import type { App, Gateway } from "../gateway.ts";
import type { Tag } from "../openapi-tags.ts";
import { paragraphs, sendPage, textsOfStatus } from "../pages/page.ts";
import { returnTexts } from "../pages/return-texts.ts";
import { readAnyBodies } from "../plugins/any-bodies.ts";
import { limitKeyless } from "../plugins/limit-rate.ts";
import type { Problem } from "../problem.ts";

/**
 * Timeout of the RPC. The payments service confirms the order at the card processor before the
 * redirect.
 */
const confirmTimeoutMs = 36_000;
const formBytesMax = 64 * 1024;

/**
 * Receives the browser of a card holder who returns from the card processor. The token in the path
 * authenticates the browser.
 */
export async function paymentReturn(app: App, gateway: Gateway): Promise<void> {
  const { rpc, logger } = gateway;
  app.addHook("onRequest", limitKeyless(gateway));
  // The form that the processor's page posts is ignored.
  readAnyBodies(app, gateway);
  app.setErrorHandler(createErrorPageHandler(logger, sendReturnError));

  const operation = (operationId: string, summary: string) => ({
    tags: ["Payments" satisfies Tag],
    operationId,
    summary,
    description:
      "Receives the browser of the card holder after the payment and redirects it to `success_url` or `fail_url`. " +
      "`payment_id` and `status` are appended to the query. Requires no API key. Do not rely on the redirect; confirm the " +
      "payment by webhook or with `GET /payments/{id}`.",
    security: [],
    params: Type.Object({ token: Type.String() }),
    response: { 303: Type.Null({ description: "Redirect to the shop." }) },
  });
  const redirect = async (request: FastifyRequest<{ Params: { token: string } }>, reply: FastifyReply) => {
    const { token } = request.params;
    const { redirectUrl } = await rpc.payments.returnFromProcessor({ token }, callOf(request, reply, confirmTimeoutMs));
    return reply.header("referrer-policy", "no-referrer").redirect(redirectUrl, 303);
  };

  const schema = operation("returnFromProcessor", "Return from the card processor");
  app.get("/:token", { exposeHeadRoute: false, schema }, redirect);
  const formSchema = operation("returnFromProcessorByForm", "Return from the card processor (form POST)");
  app.post("/:token", { bodyLimit: formBytesMax, schema: formSchema }, redirect);
}

/** Sends the error page for a browser that the gateway cannot redirect to the shop. */
export function sendReturnError(request: FastifyRequest, reply: FastifyReply, { status }: Problem): FastifyReply {
  const language = preferredLanguage(request.headers["accept-language"]);
  const [title, ...text] = textsOfStatus(returnTexts, status)[language];
  return sendPage(reply, status, { language, title, content: paragraphs(text) });
}
