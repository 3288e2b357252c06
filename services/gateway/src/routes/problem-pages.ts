import { STATUS_CODES } from "node:http";
import { Type } from "typebox";
import type { App } from "../gateway.ts";
import { escapeText, type Page, paragraphs, staticPage } from "../pages/page.ts";
import { Problem } from "../problem.ts";
import { type ProblemCode, problemCatalogue } from "../problem-catalogue.ts";
import { retryAdvice } from "../retry-advice.ts";

/** Serves the page that the `type` of a problem document links to, and a list of all problems. */
export const problemPages = async (app: App): Promise<void> => {
  const list = staticPage(() => ({ language: "en", title: "Problems", content: allProblems(), isDocument: true }));
  const pages = new Map(Object.keys(problemCatalogue).map((code) => [code, staticPage(() => pageOf(code))]));

  app.get("/", { schema: { hide: true } }, list);

  app.get("/:code", { schema: { hide: true, params: Type.Object({ code: Type.String() }) } }, async (request, reply) => {
    const page = pages.get(request.params.code);
    if (!page) throw Problem.of("not_found");
    return await page(request, reply);
  });
};

function pageOf(code: string): Page {
  const [title, text, status] = problemCatalogue[code as ProblemCode];
  const content = `<p><code>${code}</code>, ${nameOf(status)}</p>
${paragraphs([text, `Retry: ${retryAdvice(code, status)}`])}
<p><a href="/problems">All problems</a></p>`;
  return { language: "en", title, content, isDocument: true };
}

const nameOf = (status: number) => `${status} ${STATUS_CODES[status]}`;

function allProblems(): string {
  const codes = Object.entries(problemCatalogue);
  const statuses = [...new Set(codes.map(([, [, , status]]) => status))].sort((a, b) => a - b);
  const row = ([code, [title, text, status]]: (typeof codes)[number]) =>
    `<tr><td><a href="/problems/${code}"><code>${code}</code></a></td><td>${escapeText(`${title}. ${text}`)}</td>` +
    `<td>${escapeText(retryAdvice(code, status))}</td></tr>`;
  const section = (status: number) => `<h2 id="${status}">${nameOf(status)}</h2>
<div class="table" tabindex="0"><table>
<thead><tr><th>Code</th><th>Meaning and solution</th><th>Retry</th></tr></thead>
<tbody>${codes
    .filter(([, entry]) => entry[2] === status)
    .map(row)
    .join("\n")}</tbody>
</table></div>`;
  return `<p>All values of <code>code</code> in an error. Use the code for decisions in your program. The
<a href="/docs/guide/errors">guide</a> describes the format of errors. New codes can be added: handle an unknown code by its status.</p>
${statuses.map(section).join("\n")}`;
}
