import MiniSearch from "minisearch";
import type { GuidePage } from "./guide-pages.ts";

/** A search result: the part of a page below one heading. */
interface Section {
  readonly id: number;
  readonly path: string;
  readonly page: string;
  /** Empty for the text before the first heading. */
  readonly heading: string;
  readonly text: string;
}

/**
 * Splits a text into words. Symbols also separate words, so that a search for 429 finds "<429>".
 */
const tokenize = (text: string) => text.split(/[^\p{L}\p{N}]+/u);

const options = { fields: ["heading", "page", "text"], storeFields: ["path", "page", "heading", "text"] };

/**
 * Returns the search index as JSON, with the options that `guide-search.js` needs to load the
 * index.
 */
export function buildGuideIndex(guide: readonly GuidePage[]): string {
  const index = new MiniSearch<Section>({ ...options, tokenize });
  const sections = guide.flatMap(sectionsOf).filter(({ text, heading }) => text !== "" || heading !== "");
  index.addAll(sections.map((section, id) => ({ ...section, id })));
  return JSON.stringify({ options, index });
}

/**
 * Splits a page at its headings. `src/guide.ts` gives each heading an id, for example `<h2
 * id="…">`.
 */
function sectionsOf({ path, title, content }: GuidePage): Omit<Section, "id">[] {
  const [intro = "", ...rest] = content.split(/<h[2-6] id="/);
  const sections = rest.map((part) => {
    const [, anchor = "", heading = "", text = ""] = /^([^"]*)">(.*?)<\/h\d>(.*)$/s.exec(part) ?? [];
    return { path: `${path}#${anchor}`, page: title, heading: textOf(heading), text: textOf(text) };
  });
  return [{ path, page: title, heading: "", text: textOf(intro) }, ...sections];
}

const characters: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&amp;": "&" };

/** Returns the text of generated HTML without code samples. Spaces separate the blocks. */
function textOf(markup: string): string {
  const [start = "", ...rest] = markup.split("<pre");
  return [start, ...rest.map((part) => part.slice(part.indexOf("</pre>") + "</pre>".length))]
    .join(" ")
    .replaceAll(/<\/?(?:p|li|ul|ol|t[hdr]|div|blockquote)\b[^<>]*>/g, " ")
    .replaceAll(/<[^<>]*>/g, "")
    .replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => characters[entity] as string)
    .replaceAll(/\s+/g, " ")
    .trim();
}
