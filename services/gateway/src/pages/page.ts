import { createHash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { direction, type Language } from "./language.ts";

/** A short page: a heading, what happened, what to do. It shows nothing from a request. */
export interface Page {
  readonly language: Language;
  readonly title: string;
  readonly paragraphs: readonly string[];
}

const style = `
:root{color-scheme:light dark;--ink:#14211b;--paper:#fbfaf7;--primary:#0b5d46;--tint:#e3efe9}
@media (prefers-color-scheme:dark){:root{--ink:#e8ede9;--paper:#101513;--primary:#5fc29d;--tint:#1b2a24}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:1rem/1.5 system-ui,"Noto Naskh Arabic","Geeza Pro",sans-serif;overflow-wrap:anywhere}
main{max-inline-size:480px;margin-inline:auto;padding:64px 24px;text-align:start}
svg{inline-size:48px;block-size:48px;color:var(--primary)}
h1{font-size:1.44rem;line-height:1.25;margin:16px 0 12px}
p{margin:0 0 12px}
`;
// The mark: a keyhole inside a rounded square.
const mark = `<svg viewBox="0 0 48 48" aria-hidden="true" focusable="false"><rect x="3" y="3" width="42" height="42" rx="10" fill="none" stroke="currentColor" stroke-width="3"/><path d="M24 12a7 7 0 0 0-3.6 13L18 36h12l-2.4-11A7 7 0 0 0 24 12z" fill="currentColor"/></svg>`;

const styleHash = createHash("sha256").update(style).digest("base64");
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escapeText = (text: string) => text.replace(/[&<>"]/g, (character) => entities[character] as string);

export function sendPage(reply: FastifyReply, status: number, { language, title, paragraphs }: Page): FastifyReply {
  const html = `<!doctype html>
<html lang="${language}" dir="${direction[language]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeText(title)} · Amana</title>
<style>${style}</style>
</head>
<body>
<main>
${mark}
<h1>${escapeText(title)}</h1>
${paragraphs.map((paragraph) => `<p>${escapeText(paragraph)}</p>`).join("\n")}
</main>
</body>
</html>
`;
  return reply
    .code(status)
    .header("content-security-policy", policy)
    .header("referrer-policy", "no-referrer")
    .header("content-language", language)
    .type("text/html; charset=utf-8")
    .send(html);
}
