import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { FastifyReply } from "fastify";
import { direction, type Language } from "./language.ts";
import { staticFile } from "./static-file.ts";

/** A page without script: a heading and HTML that is ours. It shows nothing from a request. */
export interface Page {
  readonly language: Language;
  readonly title: string;
  /** Below the heading. */
  readonly content: string;
  /** With a way to the other documents, and as wide as code and tables need. */
  readonly isDocument?: boolean;
}

const style = readFileSync(new URL("./assets/page.css", import.meta.url), "utf8");
// The mark: a keyhole inside a rounded square.
const mark = `<svg viewBox="0 0 48 48" aria-hidden="true" focusable="false"><rect x="3" y="3" width="42" height="42" rx="10" fill="none" stroke="currentColor" stroke-width="3"/><path d="M24 12a7 7 0 0 0-3.6 13L18 36h12l-2.4-11A7 7 0 0 0 24 12z" fill="currentColor"/></svg>`;
const documents = `<header>
<a class="home" href="/">${mark}<span>Amana</span></a>
<nav aria-label="Documents"><a href="/docs/guide">Guide</a><a href="/docs">Reference</a><a href="/problems">Problems</a></nav>
</header>`;

const styleHash = createHash("sha256").update(style).digest("base64");
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
export const escapeText = (text: string) => text.replace(/[&<>"]/g, (character) => entities[character] as string);

export const paragraphs = (texts: readonly string[]): string => texts.map((text) => `<p>${escapeText(text)}</p>`).join("\n");

/** Sends a page. */
export function sendPage(reply: FastifyReply, status: number, page: Page): FastifyReply {
  return reply.code(status).headers(headersOf(page)).type(htmlType).send(htmlOf(page));
}

/** Returns a handler for a page that never changes. */
export const staticPage = (load: () => Page | Promise<Page>) =>
  staticFile(async () => {
    const page = await load();
    return { type: htmlType, content: htmlOf(page), headers: headersOf(page) };
  });

const htmlType = "text/html; charset=utf-8";

/** Returns headers whose policy allows only the style, so that a page runs and loads nothing. */
const headersOf = ({ language }: Page) => ({
  "content-security-policy": policy,
  "referrer-policy": "no-referrer",
  "content-language": language,
});

function htmlOf({ language, title, content, isDocument = false }: Page): string {
  return `<!doctype html>
<html lang="${language}" dir="${direction[language]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeText(title)} · Amana</title>
<style>${style}</style>
</head>
<body${isDocument ? ' class="document"' : ""}>
${isDocument ? documents : ""}
<main>
${isDocument ? "" : mark}
<h1>${escapeText(title)}</h1>
${content}
</main>
</body>
</html>
`;
}
