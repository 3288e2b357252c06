import type { FastifyReply } from "fastify";
import { mark } from "./assets.ts";
import { Html, html } from "./html.ts";
import { direction, type Language, languageName, languages } from "./language.ts";
import { layoutWords } from "./layout-words.ts";

export interface Page {
  readonly language: Language;
  readonly title: string;
  /** The path of this page without a query: where the language links lead. */
  readonly path: string;
  readonly main: Html;
  /** Lets the page use the camera and show what was recorded. Nothing can be sent anywhere but to the sandbox itself. */
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

/** A page in the house style. It is never kept by a cache, and loads nothing from elsewhere. */
export function sendPage(reply: FastifyReply, page: Page, status = 200): FastifyReply {
  return reply
    .code(status)
    .type("text/html; charset=utf-8")
    .headers({
      "content-security-policy": page.camera ? `${contentSecurityPolicy}; media-src blob:` : contentSecurityPolicy,
      "permissions-policy": `camera=${page.camera ? "(self)" : "()"}, microphone=()`,
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    })
    .send(layout(page).text);
}

function layout({ language, title, path, main, camera = false, refreshSeconds }: Page): Html {
  const words = layoutWords[language];
  return html`<!doctype html>
<html lang="${language}" dir="${direction[language]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Amana · ${words.sandbox}</title>
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
${languages.map((other) => languageLink(path, other, other === language))}
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

function languageLink(path: string, language: Language, current: boolean): Html {
  return html`<a href="${path}?lang=${language}" lang="${language}" hreflang="${language}"${current && html` aria-current="true"`}>${languageName[language]}</a>`;
}
