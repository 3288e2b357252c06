import { type Html, html } from "./html.ts";
import { type Language, languageName, languages } from "./language.ts";

/**
 * Renders the menu of the languages of a page. `label` is the name of the menu for screen readers,
 * in the current language. `hrefOf` returns the address of the page in a language.
 */
export const languageLinks = (current: Language, label: string, hrefOf: (language: Language) => string): Html =>
  html`<nav class="languages" aria-label="${label}">
${languages.map(
  (language) =>
    html`<a href="${hrefOf(language)}" lang="${language}" hreflang="${language}"${language === current && html` aria-current="true"`}>${languageName[language]}</a>`,
)}
</nav>`;
