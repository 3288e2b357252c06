import { expect, test } from "vitest";
import { html } from "./html.ts";
import { languages, parseLanguage, preferredLanguage } from "./language.ts";
import { pageHeaders, renderDocument } from "./page.ts";

test.each(languages)("renderDocument sets the language %s and its text direction, and escapes the title", (language) => {
  const page = renderDocument({ language, title: "<title>", head: html``, body: html`<main></main>` });
  expect(page).toContain(`<html lang="${language}" dir="${language === "ar" ? "rtl" : "ltr"}">`);
  expect(page).toContain("<title>&lt;title&gt;</title>");
  expect(page).toContain("<body>\n<main></main>\n</body>");
});

test("pageHeaders forbids frames, referrers, the camera and all sources that `contentSources` does not list", () => {
  expect(pageHeaders({ language: "ar", contentSources: { "script-src": "'self'" } })).toEqual({
    "content-security-policy":
      "default-src 'none'; script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "permissions-policy": "camera=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "content-language": "ar",
  });
  expect(pageHeaders({ contentSources: {}, permitsCamera: true })["permissions-policy"]).toBe("camera=(self), microphone=()");
});

test.each([
  ["fr-DZ,fr;q=0.9", "fr"],
  ["de, en;q=0.5, fr;q=0.4", "en"],
  ["fr;q=0.2, ar", "ar"],
  ["en;q=0, ar-DZ;q=0.1", "ar"],
  ["de", "fr"],
  ["", "fr"],
  [undefined, "fr"],
  ["en;q=, ;;,", "en"],
])(
  "preferredLanguage returns the supported language with the highest weight, or else French, for the Accept-Language header %j",
  (header, language) => {
    expect(preferredLanguage(header)).toBe(language);
  },
);

test("parseLanguage returns a supported language for its code in upper or lower case, and undefined for other values", () => {
  expect(["AR", "fr", "de", 1, undefined].map(parseLanguage)).toEqual(["ar", "fr", undefined, undefined, undefined]);
});
