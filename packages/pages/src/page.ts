import { readFileSync } from "node:fs";
import { Html, html } from "./html.ts";
import { direction, type Language } from "./language.ts";

const asset = (name: string) => readFileSync(new URL(`./assets/${name}`, import.meta.url), "utf8");

/** Colours, fonts and basic rules of all pages, in light and dark. */
export const baseStyle = asset("base.css");
/** Style of the pages for card holders and applicants: `baseStyle`, cards, forms and results. */
export const hostedStyle = `${baseStyle}\n${asset("hosted.css")}`;

/** The logo as an SVG element. The class `mark` of its parent sets the colours. */
export const logo = new Html(asset("mark.svg").trim());

/** Content type of a page. */
export const htmlContentType = "text/html; charset=utf-8";

/** The parts of a document. */
interface Page {
  readonly language: Language;
  /** Complete title of the document. */
  readonly title: string;
  /** Further elements of the head: style sheets and scripts. */
  readonly head: Html;
  readonly body: Html;
  readonly bodyClass?: string;
}

/** Returns a complete document. */
export function renderDocument({ language, title, head, body, bodyClass }: Page): string {
  return html`<!doctype html>
<html lang="${language}" dir="${direction[language]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
${head}
</head>
<body${bodyClass !== undefined && html` class="${bodyClass}"`}>
${body}
</body>
</html>
`.text;
}

/**
 * Headers of a response whose URL contains a secret. The response is not stored, and browsers do
 * not send the URL as a referrer.
 */
export const privateHeaders = { "referrer-policy": "no-referrer", "cache-control": "no-store" };

/** The part of a page's headers that differs between pages. */
interface PageHeaderOptions {
  /** Permitted sources by directive of Content-Security-Policy. All other sources are forbidden. */
  readonly contentSources: Readonly<Record<string, string>>;
  readonly language?: Language;
  /** Permits the camera. The default is false. */
  readonly permitsCamera?: boolean;
}

/**
 * Returns the security headers of a page. The page loads only from `contentSources`, cannot be
 * framed and sends no referrer.
 */
export function pageHeaders({ contentSources, language, permitsCamera = false }: PageHeaderOptions): Record<string, string> {
  const none = "'none'";
  const fixed = { "base-uri": none, "form-action": contentSources["form-action"] ?? none, "frame-ancestors": none };
  const policy = { "default-src": none, ...contentSources, ...fixed };
  return {
    "content-security-policy": Object.entries(policy)
      .map((directive) => directive.join(" "))
      .join("; "),
    "permissions-policy": `camera=${permitsCamera ? "(self)" : "()"}, microphone=()`,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    ...(language && { "content-language": language }),
  };
}
