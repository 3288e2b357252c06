import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import type { PaymentLink } from "@amana/contracts/payments/v1/payment_link_pb";
import {
  type Html,
  hostedStyle,
  html,
  htmlContentType,
  type Language,
  languageLinks,
  logo,
  pageHeaders,
  plainText,
  privateHeaders,
  renderDocument,
  type StaticFile,
} from "@amana/pages";
import type { FastifyReply } from "fastify";
import { ar } from "./ar.ts";
import { en } from "./en.ts";
import { type CheckoutTexts, fr } from "./fr.ts";

/**
 * Version of the text `form.conditions`, with which the buyer accepts the conditions. Each payment
 * stores this version. A change of the text must also change the version.
 */
export const conditionsVersion = "2026-11";

const checkoutTexts: Readonly<Record<Language, CheckoutTexts>> = { fr, ar, en };

/** The values from which every page of a payment link is rendered. */
export interface View {
  readonly language: Language;
  readonly texts: CheckoutTexts;
  /** Address of the page without the language, for the links to the other languages. */
  readonly address: string;
}

/** A payment link, the token in its address, and the name of its seller. */
export interface ShownLink {
  readonly link: PaymentLink;
  readonly linkToken: string;
  readonly businessName: string;
}

/** A page of a payment link. */
export interface CheckoutPage {
  readonly status: number;
  /** Heading of the page. The title of the HTML document also contains this text. */
  readonly title: string;
  readonly main: Html;
  /** Interval at which the browser reloads the page. */
  readonly refreshSeconds?: number;
  /** Origins to which the server may redirect the page's forms. Absent if the page has no form. */
  readonly formOrigins?: readonly string[];
  /** Whether the page loads the proof-of-work widget. */
  readonly hasCaptcha?: boolean;
  readonly bodyClass?: string;
}

export const viewOf = (language: Language, address: string): View => ({ language, texts: checkoutTexts[language], address });

/** Returns the address of a page in a language. */
export const inLanguage = (address: string, language: Language): string =>
  `${address}${address.includes("?") ? "&" : "?"}lang=${language}`;

/**
 * Renders a text of a business, a buyer or the processor, isolated from the writing direction of
 * the text around it.
 */
export const foreignText = (text: string): Html => html`<bdi>${plainText(text)}</bdi>`;

const self = "'self'";

export function sendCheckoutPage(reply: FastifyReply, view: View, page: CheckoutPage): FastifyReply {
  const { formOrigins, hasCaptcha = false, refreshSeconds } = page;
  const sources = {
    "style-src": self,
    "script-src": self,
    "img-src": self,
    ...(hasCaptcha && { "worker-src": self }),
    ...(formOrigins && { "form-action": [self, ...formOrigins].join(" ") }),
  };
  return reply
    .code(page.status)
    .type(htmlContentType)
    .headers({
      ...privateHeaders,
      ...pageHeaders({ language: view.language, contentSources: sources }),
      ...(refreshSeconds !== undefined && { refresh: String(refreshSeconds) }),
    })
    .send(renderCheckoutPage(view, page));
}

function renderCheckoutPage(view: View, { title, main, hasCaptcha = false, bodyClass }: CheckoutPage): string {
  const { language, texts, address } = view;
  return renderDocument({
    language,
    title: `${plainText(title)} · ${texts.product}`,
    head: html`<link rel="icon" type="image/svg+xml" href="/assets/mark.svg">
<link rel="stylesheet" href="/assets/checkout.css">
${hasCaptcha && html`<script type="module" src="/assets/altcha-${language}.js"></script>`}
<script type="module" src="/assets/checkout.js"></script>
${hasCaptcha && html`<script type="module" src="/assets/altcha.js"></script>`}`,
    bodyClass,
    body: html`<header>
<p class="brand"><span class="mark" aria-hidden="true">${logo}</span><span>${texts.product}</span></p>
${languageLinks(language, texts.chooseLanguage, (linked) => inLanguage(address, linked))}
</header>
<main>
${main}
</main>`,
  });
}

const ownFile = (name: string) => readFileSync(new URL(`../assets/${name}`, import.meta.url), "utf8");
const widgetFolder = new URL("../", pathToFileURL(createRequire(import.meta.url).resolve("altcha/altcha.css")));
/**
 * Reads a file of the package `altcha`, by its path in the folder `dist`. The package exports only
 * some of these files. The bundler replaces `import.meta.url`, but not `import.meta.resolve`.
 */
const widgetFile = (path: string) => readFileSync(new URL(path, widgetFolder), "utf8");

const script = "text/javascript; charset=utf-8";

/** Names of the translations in the package `altcha`. */
export const captchaLanguage: Readonly<Record<Language, string>> = { fr: "fr-fr", ar: "ar", en: "en" };

/**
 * Static files of the pages by their name in /assets. The pages load no file from other servers.
 */
export const checkoutFiles: Readonly<Record<string, () => StaticFile>> = {
  "checkout.css": () => ({
    type: "text/css; charset=utf-8",
    content: [hostedStyle, widgetFile("external/altcha.css"), ownFile("checkout.css")].join("\n"),
  }),
  "checkout.js": () => ({ type: script, content: ownFile("checkout.js") }),
  // This build has no inline styles and workers, because the Content-Security-Policy of the page
  // forbids them.
  "altcha.js": () => ({ type: script, content: widgetFile("external/altcha.min.js") }),
  "altcha-fr.js": () => ({ type: script, content: widgetFile("i18n/fr-fr.js") }),
  "altcha-en.js": () => ({ type: script, content: widgetFile("i18n/en.js") }),
  "altcha-ar.js": () => ({ type: script, content: widgetFile("i18n/ar.js") }),
  "altcha-worker.js": () => ({ type: script, content: widgetFile("workers/pbkdf2.js") }),
  "mark.svg": () => ({ type: "image/svg+xml", content: logo.text }),
};
