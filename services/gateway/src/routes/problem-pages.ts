import { STATUS_CODES } from "node:http";
import { Type } from "typebox";
import type { App } from "../gateway.ts";
import { escapeText, paragraphs, sendPage } from "../pages/page.ts";
import { Problem } from "../problem.ts";
import { problemAdvice, problemCatalogue } from "../problem-catalogue.ts";
import { retryAdvice } from "../retry-advice.ts";

/** What the `type` of a problem document leads to, and all of them in one list. */
export const problemPages = async (app: App): Promise<void> => {
  app.get("/", { schema: { hide: true } }, async (_request, reply) =>
    sendPage(reply, 200, { language: "en", title: "Problems", content: allProblems(), isDocument: true }),
  );

  app.get("/:code", { schema: { hide: true, params: Type.Object({ code: Type.String() }) } }, async (request, reply) => {
    const { code } = request.params;
    const advice = problemAdvice(code);
    if (!advice) throw Problem.of("not_found");
    const [title, text, status] = advice;
    const content = `<p><code>${code}</code>, ${nameOf(status)}</p>
${paragraphs([text, `Another try: ${retryAdvice(code, status)}`])}
<p><a href="/problems">All problems</a></p>`;
    return sendPage(reply, 200, { language: "en", title, content, isDocument: true });
  });
};

const nameOf = (status: number) => `${status} ${STATUS_CODES[status]}`;

function allProblems(): string {
  const codes = Object.entries(problemCatalogue);
  const statuses = [...new Set(codes.map(([, [, , status]]) => status))].sort((a, b) => a - b);
  const row = ([code, [title, text, status]]: (typeof codes)[number]) =>
    `<tr><td><a href="/problems/${code}"><code>${code}</code></a></td><td>${escapeText(`${title}. ${text}`)}</td>` +
    `<td>${escapeText(retryAdvice(code, status))}</td></tr>`;
  const section = (status: number) => `<h2 id="${status}">${nameOf(status)}</h2>
<div class="table" tabindex="0"><table>
<thead><tr><th>Code</th><th>What it means, and what to do</th><th>Another try</th></tr></thead>
<tbody>${codes
    .filter(([, entry]) => entry[2] === status)
    .map(row)
    .join("\n")}</tbody>
</table></div>`;
  return `<p>Every <code>code</code> that an error can have. Decide by it; how an error looks is in the
<a href="/docs/guide/errors">guide</a>. New codes may come: where you do not know one, go by the status.</p>
${statuses.map(section).join("\n")}`;
}
