/** Layout, style, parts, languages, escaping, headers and static files of HTML pages. */
export { formatAmount, formatDate, formatTime } from "./formats.ts";
export { escapeText, Html, html } from "./html.ts";
export { type IconName, icons } from "./icons.ts";
export { direction, type Language, languages, parseLanguage, preferredLanguage } from "./language.ts";
export { languageLinks } from "./language-links.ts";
export { baseStyle, hostedStyle, htmlContentType, logo, pageHeaders, privateHeaders, renderDocument } from "./page.ts";
export { field, fieldProblem, problemAttributes, problemSummary, resultCard } from "./parts.ts";
export { plainText } from "./plain-text.ts";
export { type StaticFile, staticFile } from "./static-file.ts";
