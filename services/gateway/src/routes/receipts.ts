import { createHash } from "node:crypto";
import { parse } from "node:querystring";
import type { Receipt } from "@amana/contracts/payments/v1/receipt_pb";
import {
  Html,
  html,
  htmlContentType,
  pageHeaders,
  parseLanguage,
  preferredLanguage,
  privateHeaders,
  renderDocument,
  staticFile,
} from "@amana/pages";
import {
  emailCharactersMax,
  type Notice,
  type ReceiptPageOptions,
  receiptNotice,
  receiptOf,
  receiptPage,
  receiptScript,
  receiptStyle,
  receiptTexts,
} from "@amana/receipts";
import { DomainError } from "@amana/rpc";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { callOf } from "../call.ts";
import { createErrorHandler, createErrorPageHandler, pathOf } from "../errors.ts";
import type { App, Gateway } from "../gateway.ts";
import { readJsonObject } from "../json/read-json.ts";
import { textsOfStatus } from "../pages/page.ts";
import { receiptErrorTexts } from "../pages/receipt-texts.ts";
import { limitKeyless } from "../plugins/limit-rate.ts";
import { prefersType } from "../prefers-type.ts";
import type { Problem } from "../problem.ts";
import { hasReceipt, languageOf } from "../receipts/receipt.ts";
import { renderReceiptPdf } from "../receipts/render-receipt-pdf.ts";

const bodyBytesMax = 8 * 1024;
const styleHash = createHash("sha256").update(receiptStyle).digest("base64");
const scriptPath = "/assets/receipt.js";

/** A request for a receipt. The query is not checked, because buyers may append parameters. */
interface ReceiptRoute {
  Params: { token: string };
  Querystring: Record<string, unknown>;
}
type ReceiptRequest = FastifyRequest<ReceiptRoute>;

/** A receipt with the values that its page shows. */
interface Loaded {
  readonly receipt: Receipt;
  readonly businessName: string;
  readonly options: ReceiptPageOptions;
}

/**
 * Serves the receipts of payments to buyers, who have no API key. The token in the path
 * authenticates the buyer.
 */
export async function receipts(app: App, gateway: Gateway): Promise<void> {
  const { rpc, businesses, logger, byteBounds } = gateway;
  const sendProblem = createErrorHandler(logger);
  const sendErrorPage = createErrorPageHandler(logger, sendReceiptError);
  app.addHook("onRequest", limitKeyless(gateway));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", async (request: FastifyRequest) => await request.incoming?.read(byteBounds.of(request)));
  app.setErrorHandler((error, request, reply) =>
    hasJsonBody(request) ? sendProblem(error, request, reply) : sendErrorPage(error, request, reply),
  );

  const load = async (request: ReceiptRequest, reply: FastifyReply, lang = request.query["lang"]): Promise<Loaded> => {
    const { token } = request.params;
    const receipt = await rpc.receipts.findReceipt({ token }, callOf(request, reply));
    const { name: businessName } = await businesses.resolve(receipt.payment?.businessId ?? "");
    const { canSendEmail } = receipt;
    return { receipt, businessName, options: { language: languageOf(lang, receipt), path: `/receipts/${token}`, canSendEmail } };
  };

  const sendPdf = async (request: ReceiptRequest, reply: FastifyReply) => {
    const { receipt, businessName, options } = await load(request, reply);
    if (!hasReceipt(receipt.payment)) return sendWithoutReceipt(reply, receipt, options);
    return reply.send(await renderReceiptPdf(gateway, request, reply, receipt, { businessName, language: options.language }));
  };

  const schema = { params: Type.Object({ token: Type.String() }) };
  app.get(
    scriptPath,
    staticFile(() => ({ type: "text/javascript; charset=utf-8", content: receiptScript })),
  );

  app.get<ReceiptRoute>("/:token", { schema }, async (request, reply) => {
    reply.header("vary", "Accept");
    if (request.query["format"] === "pdf" || prefersType(request.headers.accept, "application/pdf", "text/html"))
      return await sendPdf(request, reply);
    const { receipt, businessName, options } = await load(request, reply);
    if (!hasReceipt(receipt.payment)) return sendWithoutReceipt(reply, receipt, options);
    return sendReceiptPage(reply, 200, options, receiptPage(receiptOf(receipt, businessName), options));
  });

  app.get<ReceiptRoute>("/:token/pdf", { schema }, sendPdf);

  app.post<ReceiptRoute>("/:token/email", { schema, bodyLimit: bodyBytesMax }, async (request, reply) => {
    const fields = readFields(request);
    const loaded = await load(request, reply, fields.lang ?? request.query["lang"]);
    const { receipt, businessName, options } = loaded;
    const email = String(fields.email ?? "");
    const sending = { token: receipt.token, email, language: options.language.toUpperCase(), businessName };
    try {
      await rpc.receipts.sendReceipt(sending, callOf(request, reply));
    } catch (error) {
      if (hasJsonBody(request) || !(error instanceof DomainError)) throw error;
      return sendRejection(reply, error, loaded, email);
    }
    if (hasJsonBody(request)) return reply.code(202).send({});
    const { sentTitle: title, sentText: text, backToReceipt: back } = receiptTexts[options.language];
    return sendNotice(reply, 202, options, { title, text, back });
  });
}

const hasJsonBody = ({ headers }: FastifyRequest) => /^application\/json\b/i.test(headers["content-type"] ?? "");

/** Reads the fields of the e-mail form from a form body or a JSON body. */
function readFields(request: FastifyRequest): { readonly email?: unknown; readonly lang?: unknown } {
  const bytes = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
  return hasJsonBody(request) ? (readJsonObject(bytes) ?? {}) : parse(bytes.toString("utf8"), "&", "=", { maxKeys: 10 });
}

/**
 * Sends a page that states why there is no receipt: the payment was reversed, or it was never
 * completed.
 */
function sendWithoutReceipt(reply: FastifyReply, { payment }: Receipt, options: ReceiptPageOptions): FastifyReply {
  const texts = receiptTexts[options.language];
  const isReversed = payment?.paidAtMs !== undefined;
  const title = isReversed ? texts.canceled : texts.unpaid;
  return sendNotice(reply, 409, options, { title, text: isReversed ? texts.reversedText : texts.unpaidText });
}

/** Sends a page that states why the e-mail was not queued. */
function sendRejection(reply: FastifyReply, error: DomainError, { receipt, businessName, options }: Loaded, email: string) {
  const texts = receiptTexts[options.language];
  switch (error.code) {
    case "validation_failed": {
      const rejectedOptions = { ...options, rejectedEmail: email.slice(0, emailCharactersMax) };
      return sendReceiptPage(reply, 422, options, receiptPage(receiptOf(receipt, businessName), rejectedOptions));
    }
    case "receipt_email_limit_reached":
      return sendNotice(reply, 409, options, { title: texts.tooManyTitle, text: texts.tooManyText, back: texts.backToReceipt });
    case "receipt_not_available":
      return sendWithoutReceipt(reply, receipt, options);
    default:
      throw error;
  }
}

/** Sends an error page for a request for a receipt, for example with an unknown token. */
export function sendReceiptError(request: FastifyRequest, reply: FastifyReply, { status }: Problem): FastifyReply {
  const { lang } = (request.query ?? {}) as { lang?: unknown };
  const language = parseLanguage(lang) ?? preferredLanguage(request.headers["accept-language"]);
  const [title, text] = textsOfStatus(receiptErrorTexts, status)[language];
  const path = pathOf(request, "/receipts").replace(/\/(pdf|email)$/, "");
  return sendNotice(reply, status, { language, path, canSendEmail: false }, { title, text });
}

const sendNotice = (reply: FastifyReply, status: number, options: ReceiptPageOptions, notice: Notice) =>
  sendReceiptPage(reply, status, options, receiptNotice(options, notice), notice.title);

function sendReceiptPage(
  reply: FastifyReply,
  status: number,
  { language }: ReceiptPageOptions,
  body: Html,
  title: string = receiptTexts[language].title,
): FastifyReply {
  const sources = { "style-src": `'sha256-${styleHash}'`, "script-src": "'self'", "form-action": "'self'" };
  const head = html`<style>${new Html(receiptStyle)}</style>
<script type="module" src="/receipts${scriptPath}"></script>`;
  return reply
    .code(status)
    .type(htmlContentType)
    .headers({ ...privateHeaders, ...pageHeaders({ language, contentSources: sources }) })
    .send(renderDocument({ language, title: `${title} · Amana`, head, body }));
}
