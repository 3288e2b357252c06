import {
  type Html,
  html,
  htmlContentType,
  type Language,
  languageLinks,
  logo,
  pageHeaders,
  privateHeaders,
  renderDocument,
} from "@amana/pages";
import type { FastifyReply } from "fastify";
import type { CommonWords } from "./words.ts";

/** The values from which every part of a hosted page is rendered. */
export interface View<Words = unknown> {
  readonly language: Language;
  readonly words: CommonWords & { readonly title: string } & Words;
  /** Path of the page without its query. The paths of the page's steps start with this path. */
  readonly path: string;
}

export interface PageOptions {
  /** Title of the step, shown before the title of the flow. */
  readonly title?: string;
  readonly status?: number;
  /**
   * Permits the camera and the playback of a recording. The page cannot send the recording to
   * another origin.
   */
  readonly camera?: boolean;
  /** Interval at which a browser without scripts reloads the page. */
  readonly refreshSeconds?: number;
}

const sources = {
  "style-src": "'self'",
  "script-src": "'self'",
  "img-src": "'self'",
  "connect-src": "'self'",
  "form-action": "'self'",
};

export function sendPage(reply: FastifyReply, view: View, main: Html, options: PageOptions = {}): FastifyReply {
  const { language, words } = view;
  const { status = 200, title, camera = false } = options;
  const fullTitle = [title, words.title, "Amana", words.sandbox].filter((part) => part !== undefined).join(" · ");
  return reply
    .code(status)
    .type(htmlContentType)
    .headers({
      ...privateHeaders,
      ...pageHeaders({
        language,
        permitsCamera: camera,
        contentSources: camera ? { ...sources, "media-src": "blob:" } : sources,
      }),
    })
    .send(renderDocument({ language, title: fullTitle, head: headOf(options), body: bodyOf(view, main) }));
}

const headOf = ({ camera, refreshSeconds }: PageOptions): Html =>
  html`<link rel="icon" type="image/svg+xml" href="/assets/mark.svg">
<link rel="stylesheet" href="/assets/sandbox.css">
<script src="/assets/sandbox.js" defer></script>
${camera && html`<script src="/assets/camera.js" defer></script>`}
${refreshSeconds !== undefined && html`<noscript><meta http-equiv="refresh" content="${refreshSeconds}"></noscript>`}`;

const bodyOf = ({ language, words, path }: View, main: Html): Html =>
  html`<header>
<div class="brand"><span class="mark" aria-hidden="true">${logo}</span><span class="name">Amana</span></div>
${languageLinks(language, words.chooseLanguage, (linked) => `${path}?lang=${linked}`)}
<p class="sandbox-notice"><strong>${words.sandbox}.</strong> <span>${words.sandboxNotice}</span></p>
</header>
<main>
${main}
</main>`;
