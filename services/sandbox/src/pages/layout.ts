import type { FastifyReply } from "fastify";
import { mark } from "./assets.ts";
import { Html, html } from "./html.ts";
import { direction, type Language, languageName, languages } from "./language.ts";
import type { CommonWords } from "./words.ts";

/** What every part of a hosted page is drawn from. */
export interface View<Words = unknown> {
  readonly language: Language;
  readonly words: CommonWords & { readonly title: string } & Words;
  /** The path of the page, without a query. Its steps come after it. */
  readonly path: string;
}

export interface PageOptions {
  /** What the page says of itself before the title of the flow. */
  readonly title?: string;
  readonly status?: number;
  /** Lets the page use the camera and show what was recorded, which it can send nowhere else. */
  readonly camera?: boolean;
  /** Without scripts the page asks again by itself. */
  readonly refreshSeconds?: number;
}

const contentSecurityPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** No cache keeps the answer, and nobody learns its address from a link followed. */
export const privately = { "referrer-policy": "no-referrer", "cache-control": "no-store" };

/** A page in the house style. It loads nothing from elsewhere. */
export function sendPage(reply: FastifyReply, view: View, main: Html, options: PageOptions = {}): FastifyReply {
  const { status = 200, camera = false } = options;
  return reply
    .code(status)
    .type("text/html; charset=utf-8")
    .headers({
      ...privately,
      "content-security-policy": camera ? `${contentSecurityPolicy}; media-src blob:` : contentSecurityPolicy,
      "permissions-policy": `camera=${camera ? "(self)" : "()"}, microphone=()`,
      "x-content-type-options": "nosniff",
    })
    .send(layout(view, main, options).text);
}

function layout({ language, words, path }: View, main: Html, { title, camera, refreshSeconds }: PageOptions): Html {
  return html`<!doctype html>
<html lang="${language}" dir="${direction[language]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title !== undefined && `${title} · `}${words.title} · Amana · ${words.sandbox}</title>
<link rel="icon" type="image/svg+xml" href="/assets/mark.svg">
<link rel="stylesheet" href="/assets/sandbox.css">
<script src="/assets/sandbox.js" defer></script>
${camera && html`<script src="/assets/camera.js" defer></script>`}
${refreshSeconds !== undefined && html`<noscript><meta http-equiv="refresh" content="${refreshSeconds}"></noscript>`}
</head>
<body>
<header>
<div class="brand"><span class="mark" aria-hidden="true">${new Html(mark)}</span><span class="name">Amana</span></div>
<nav class="languages" aria-label="${words.chooseLanguage}">
${languages.map(
  (other) =>
    html`<a href="${path}?lang=${other}" lang="${other}" hreflang="${other}"${other === language && html` aria-current="true"`}>${languageName[other]}</a>`,
)}
</nav>
<p class="sandbox-notice"><strong>${words.sandbox}.</strong> <span>${words.sandboxNotice}</span></p>
</header>
<main>
${main}
</main>
</body>
</html>
`;
}
