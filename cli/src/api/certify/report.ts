import { type Html, html } from "@amana/pages";
import type { Evidence, PointResult } from "./evidence.ts";

const style = `
body { font: 11pt/1.45 system-ui, sans-serif; color: #1a1a1a; margin: 2rem auto; max-width: 52rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.3rem; }
table { border-collapse: collapse; width: 100%; } th, td { border-bottom: 1px solid #ccc; padding: .3rem .5rem; text-align: start; }
.point { break-before: page; border-top: 2px solid #1a1a1a; margin-top: 2rem; }
.passed { color: #0a6b2d; } .failed { color: #a40016; } .not-applicable { color: #5a5a5a; }
.pictures { display: flex; gap: 1rem; flex-wrap: wrap; align-items: flex-start; }
figure { margin: 0; } figure img { border: 1px solid #ccc; max-width: 100%; max-height: 15cm; }
figcaption { font-size: .85rem; color: #5a5a5a; }
@media print { body { margin: 0; max-width: none; } }
`;

const languageNames = { fr: "French", ar: "Arabic", en: "English" } as const;

const statusOf = ({ status }: PointResult) => html`<span class="${status.replace(" ", "-")}">${status}</span>`;

/**
 * Renders the evidence as one HTML document, with one printed page for each point. Escapes all
 * texts. The pictures stay separate files.
 */
export function renderReport({ deployment, business, results }: Evidence): string {
  const all = Object.values(results);
  const count = (status: PointResult["status"]) => all.filter((result) => result.status === status).length;
  const { text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Evidence for the acceptance of card payments</title>
<style>${rawStyle}</style>
</head>
<body>
<h1>Evidence for the acceptance of card payments</h1>
<p>Seller: <bdi>${business}</bdi>. Deployment: ${deployment}.</p>
<p>${count("passed")} passed, ${count("failed")} failed, ${count("not applicable")} not applicable. The points come from public
integrations. Compare them with the current list of the processor.</p>
<table>
<thead><tr><th>Point</th><th>Language</th><th>Result</th></tr></thead>
<tbody>
${all.map((result) => html`<tr><td><a href="#${idOf(result)}">${result.title}</a></td><td>${languageNames[result.language]}</td><td>${statusOf(result)}</td></tr>`)}
</tbody>
</table>
${all.map(renderPoint)}
</body>
</html>
`;
  return text;
}

const rawStyle = html([style] as unknown as TemplateStringsArray);

const idOf = ({ point, language }: PointResult) => `${point}-${language}`;

function renderPoint(result: PointResult): Html {
  const { title, language, requirement, reason, at, checks, files } = result;
  return html`<section class="point" id="${idOf(result)}">
<h2>${title} (${languageNames[language]})</h2>
<p>${requirement}</p>
<p><strong>${statusOf(result)}</strong>, ${at}${reason !== undefined && html`. <bdi>${reason}</bdi>`}</p>
${
  checks.length > 0 &&
  html`<table>
<thead><tr><th>Check</th><th>Result</th></tr></thead>
<tbody>
${checks.map(({ text, holds, found }) => html`<tr><td>${text}${found !== undefined && html`. Found: <bdi>${found}</bdi>`}</td><td class="${holds ? "passed" : "failed"}">${holds ? "yes" : "no"}</td></tr>`)}
</tbody>
</table>`
}
<div class="pictures">
${files.map(({ name, caption }) =>
  name.endsWith(".png")
    ? html`<figure><img src="files/${name}" alt="${caption}"><figcaption>${caption}</figcaption></figure>`
    : html`<p><a href="files/${name}">${caption}</a></p>`,
)}
</div>
</section>`;
}
