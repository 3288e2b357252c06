import { STATUS_CODES } from "node:http";
import { type Html, html } from "@amana/pages";
import { Type } from "typebox";
import type { App } from "../gateway.ts";
import { type GatewayPage, paragraphs, staticPage } from "../pages/page.ts";
import { Problem } from "../problem.ts";
import { type ProblemCode, problemCatalogue } from "../problem-catalogue.ts";

/** Serves a page for each `type` of a problem document, and a list of all problems. */
export const problemPages = async (app: App): Promise<void> => {
  const sendList = staticPage(() => ({ language: "en", title: "Problems", content: allProblems(), isDocument: true }));
  const pages = new Map(Object.keys(problemCatalogue).map((code) => [code, staticPage(() => pageOf(code))]));

  app.get("/", sendList);

  app.get("/:code", { schema: { params: Type.Object({ code: Type.String() }) } }, async (request, reply) => {
    const page = pages.get(request.params.code);
    if (!page) throw Problem.of("not_found");
    return await page(request, reply);
  });
};

function pageOf(code: string): GatewayPage {
  const [title, text, status] = problemCatalogue[code as ProblemCode];
  const content = html`<p><code>${code}</code>, ${nameOf(status)}</p>
${paragraphs([text, `Retry: ${retryAdvice(code, status)}`])}
<p><a href="/problems">All problems</a></p>`;
  return { language: "en", title, content, isDocument: true };
}

const nameOf = (status: number) => `${status} ${STATUS_CODES[status]}`;

function allProblems(): Html {
  const codes = Object.entries(problemCatalogue);
  const statuses = [...new Set(codes.map(([, [, , status]]) => status))].sort((a, b) => a - b);
  const row = ([code, [title, text, status]]: (typeof codes)[number]) =>
    html`<tr><td><a href="/problems/${code}"><code>${code}</code></a></td><td>${title}. ${text}</td><td>${retryAdvice(code, status)}</td></tr>`;
  const section = (status: number) => html`<h2 id="${status}">${nameOf(status)}</h2>
<div class="table" tabindex="0"><table>
<thead><tr><th>Code</th><th>Meaning and next step</th><th>Retry</th></tr></thead>
<tbody>${codes.filter(([, entry]) => entry[2] === status).map(row)}</tbody>
</table></div>`;
  return html`<p>All values of the field <code>code</code> in an error response. Base decisions in your code on this field. The
<a href="/docs/guide/errors">guide</a> describes the format of an error. New codes may be added: treat an unknown code by its HTTP
status.</p>
${statuses.map(section)}`;
}

const adviceByStatus: Readonly<Record<number, string>> = {
  408: "Yes, immediately.",
  429: "Yes, after Retry-After, at a lower rate.",
  500: "Once or twice, with the same Idempotency-Key. If the error persists, send the request id to support.",
  502: "Not as it is: the response is final and stored under the Idempotency-Key. Use a new key for a new attempt.",
  503: "Yes, after Retry-After, with the same Idempotency-Key.",
  504: "Yes, after Retry-After, with the same Idempotency-Key. Or read the resource to find the outcome.",
};
const adviceByCode: Readonly<Record<string, string>> = {
  delivery_attempt_limit_reached: "Yes, after a few hours.",
  endpoint_checked_recently: "Yes, after ten seconds.",
  refund_attempt_limit_reached: "Yes, at refundable_at.",
  refunds_held: "Yes, at refundable_at, with the same Idempotency-Key.",
};

/** Returns the text that explains whether and how to repeat a rejected request. */
function retryAdvice(code: string, status: number): string {
  const isTemporary = status === 409 && code.endsWith("_in_progress");
  const statusAdvice = isTemporary
    ? "Yes, after Retry-After. The conflict ends without an action of yours."
    : adviceByStatus[status];
  return adviceByCode[code] ?? statusAdvice ?? "No. Change the request first, or remove the cause of the rejection.";
}
