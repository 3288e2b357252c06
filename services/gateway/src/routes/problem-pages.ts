import { STATUS_CODES } from "node:http";
import { type Html, html } from "@amana/pages";
import { Type } from "typebox";
import type { App } from "../gateway.ts";
import { type GatewayPage, paragraphs, staticPage } from "../pages/page.ts";
import { Problem } from "../problem.ts";
import { type ProblemCode, problemCatalogue } from "../problem-catalogue.ts";
import { retryAdvice } from "../retry-advice.ts";

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
