import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  baseStyle,
  Html,
  html,
  htmlContentType,
  type Language,
  logo,
  pageHeaders,
  renderDocument,
  staticFile,
} from "@amana/pages";
import type { FastifyReply } from "fastify";

/** A page with a heading and static HTML. The page shows no value from a request. */
export interface GatewayPage {
  readonly language: Language;
  readonly title: string;
  /** Markup below the heading. */
  readonly content: Html;
  /** True for a page with links to the other documents and enough width for code and tables. */
  readonly isDocument?: boolean;
  /** Markup beside the content of a document: search and navigation. */
  readonly aside?: Html;
  /** Paths of scripts. If omitted, the Content-Security-Policy of the page forbids all scripts. */
  readonly scripts?: readonly string[];
}

const style = `${baseStyle}\n${readFileSync(new URL("./assets/page.css", import.meta.url), "utf8")}`;
const styleHash = createHash("sha256").update(style).digest("base64");

const skipLink = html`<a class="skip" href="#content">Skip to content</a>
`;

const documentHeader = html`<header>
<a class="home" href="/"><span class="mark" aria-hidden="true">${logo}</span><span>Amana</span></a>
<nav aria-label="Documents"><a href="/docs/guide">Guide</a><a href="/docs">Reference</a><a href="/problems">Problems</a></nav>
</header>
`;

/** Texts for a person whose request failed, by the reason of the failure. */
export interface ErrorTexts<Texts> {
  readonly unknown: Texts;
  readonly unavailable: Texts;
  readonly refused: Texts;
}

/** Returns the texts for the status of a failed request. */
export function textsOfStatus<Texts>(texts: ErrorTexts<Texts>, status: number): Texts {
  if (status === 404) return texts.unknown;
  return status >= 500 || status === 429 ? texts.unavailable : texts.refused;
}

export const paragraphs = (texts: readonly string[]): Html => html`${texts.map((text) => html`<p>${text}</p>`)}`;

export const sendPage = (reply: FastifyReply, status: number, page: GatewayPage): FastifyReply =>
  reply.code(status).headers(headersOf(page)).type(htmlContentType).send(textOf(page));

/** Returns a handler for a page that never changes. */
export const staticPage = (load: () => GatewayPage | Promise<GatewayPage>) =>
  staticFile(async () => {
    const page = await load();
    return { type: htmlContentType, content: textOf(page), headers: headersOf(page) };
  });

const headersOf = ({ language, scripts = [] }: GatewayPage) => {
  const scriptSources = scripts.length > 0 && { "script-src": "'self'", "connect-src": "'self'" };
  return pageHeaders({ language, contentSources: { "style-src": `'sha256-${styleHash}'`, ...scriptSources } });
};

function textOf({ language, title, content, isDocument = false, aside, scripts = [] }: GatewayPage): string {
  return renderDocument({
    language,
    title: `${title} · Amana`,
    head: html`<style>${new Html(style)}</style>
${scripts.map((path) => html`<script type="module" src="${path}"></script>`)}`,
    bodyClass: isDocument ? (aside ? "document guide" : "document") : undefined,
    body: html`${aside && skipLink}${isDocument && documentHeader}${
      aside &&
      html`<aside>${aside}</aside>
`
    }<main id="content">
${!isDocument && html`<span class="mark" aria-hidden="true">${logo}</span>`}
<h1>${title}</h1>
${content}
</main>`,
  });
}
