import { readFileSync } from "node:fs";
import { Html, html } from "@amana/pages";
import type { GatewayPage } from "./page.ts";

const folder = new URL("./assets/guide/", import.meta.url);

/** Returns the text of a file that `src/guide.ts` generated. */
export const readGuideFile = (name: string): string => readFileSync(new URL(name, folder), "utf8");

/** A page of the guide. */
export interface GuidePage {
  /** Last segment of the path; "index" is the first page. */
  readonly name: string;
  readonly path: string;
  readonly title: string;
  readonly content: string;
}

/** Returns all pages of the guide in reading order. */
export function loadGuide(): GuidePage[] {
  const names: string[] = JSON.parse(readGuideFile("order.json"));
  return names.map((name) => {
    const text = readGuideFile(`${name}.html`);
    const end = text.indexOf("\n");
    return { name, path: guidePath(name), title: text.slice(0, end), content: text.slice(end + 1) };
  });
}

/** Returns the path of a page. */
export const guidePath = (name: string): string => (name === "index" ? "/docs/guide" : `/docs/guide/${name}`);

/** Returns the page at `position` with search, navigation and links to its neighbours. */
export function guidePage(guide: readonly GuidePage[], position: number): GatewayPage {
  const { title, content } = guide[position] as GuidePage;
  return {
    language: "en",
    title,
    content: html`${new Html(content)}${renderPageLinks(guide[position - 1], guide[position + 1])}`,
    isDocument: true,
    aside: html`${search}
${navigation(guide, position)}`,
    scripts: ["/docs/search.js"],
  };
}

// The search box is hidden until its script runs, because the search needs the script.
const search = html`<search hidden>
<label for="search">Search the guide</label>
<input id="search" type="search" autocomplete="off" spellcheck="false" aria-controls="results">
<div class="results" id="results" hidden><p role="status"></p><ol></ol></div>
</search>`;

function navigation(guide: readonly GuidePage[], position: number): Html {
  const item = ({ path, title }: GuidePage, i: number) =>
    html`<li><a href="${path}"${i === position && html` aria-current="page"`}>${i === 0 ? "Overview" : title}</a></li>`;
  return html`<details>
<summary>Pages of the guide</summary>
<nav class="menu" aria-label="Guide"><ol>
${guide.map(item)}
</ol></nav>
</details>`;
}

function renderPageLinks(previous: GuidePage | undefined, next: GuidePage | undefined): Html {
  const link = ({ path, title }: GuidePage, rel: "prev" | "next") =>
    html`<a href="${path}" rel="${rel}"><small>${rel === "prev" ? "← Previous" : "Next →"}</small> <span>${title}</span></a>`;
  return html`<nav class="neighbours" aria-label="Previous and next page">
${previous && link(previous, "prev")}
${next && link(next, "next")}
</nav>`;
}
