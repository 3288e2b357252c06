import MiniSearch from "minisearch";
import { describe, expect, test } from "vitest";
import { buildGuideIndex } from "./guide-index.ts";
import { type GuidePage, guidePage, loadGuide } from "./guide-pages.ts";

const guide: GuidePage[] = [
  { name: "index", path: "/docs/guide", title: "Guide", content: "<p>Start here.</p>" },
  {
    name: "errors",
    path: "/docs/guide/errors",
    title: "Errors",
    content:
      '<p>Every error is a problem.</p><h2 id="try-again">Try <code>again</code></h2><p>After &lt;429&gt;,</p><p>wait.</p>' +
      '<pre tabindex="0"><code>sample</code></pre><h3 id="codes">Codes</h3><table><tr><td>refund_in_progress</td><td>Wait</td></tr></table>',
  },
  { name: "lists", path: "/docs/guide/lists", title: "Lists", content: "<p>Newest first.</p>" },
];

const search = (query: string) => {
  const { index, options } = JSON.parse(buildGuideIndex(guide));
  return MiniSearch.loadJS(index, options).search(query, { prefix: true });
};

describe("buildGuideIndex", () => {
  test("the index of buildGuideIndex finds a section by its text and links to the section's heading", () => {
    expect(search("429")[0]).toMatchObject({
      path: "/docs/guide/errors#try-again",
      page: "Errors",
      heading: "Try again",
      text: "After <429>, wait.",
    });
  });

  test("the index of buildGuideIndex finds the text before the first heading of a page and links to the page", () => {
    expect(search("problem")[0]).toMatchObject({ path: "/docs/guide/errors", heading: "" });
  });

  test("the index of buildGuideIndex finds a section by a part of an identifier, and contains no code samples", () => {
    expect(search("progress").map(({ path }) => path)).toEqual(["/docs/guide/errors#codes"]);
    expect(search("sample")).toEqual([]);
  });

  test("the index of buildGuideIndex contains every page of the guide, and links only to anchors that exist", () => {
    const pages = loadGuide();
    const { index } = JSON.parse(buildGuideIndex(pages));
    const paths = Object.values(index.storedFields as Record<string, { path: string }>).map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    for (const page of pages) expect(paths.some((path) => path.split("#")[0] === page.path)).toBe(true);
    for (const path of paths) {
      const [pagePath, anchor] = path.split("#");
      const content = pages.find((page) => page.path === pagePath)?.content;
      if (anchor !== undefined) expect(content).toContain(`id="${anchor}"`);
    }
  });
});

describe("guidePage", () => {
  test("guidePage lists all pages in reading order and marks the current page", () => {
    const { aside } = guidePage(guide, 1);
    expect(
      [...(aside?.text ?? "").matchAll(/<a href="([^"]+)"( aria-current="page")?>([^<]+)/g)].map((link) => link.slice(1)),
    ).toEqual([
      ["/docs/guide", undefined, "Overview"],
      ["/docs/guide/errors", ' aria-current="page"', "Errors"],
      ["/docs/guide/lists", undefined, "Lists"],
    ]);
  });

  test("guidePage links to the previous and the next page if they exist", () => {
    const neighbours = (position: number) =>
      [...guidePage(guide, position).content.text.matchAll(/<a href="([^"]+)" rel="(prev|next)">/g)].map((link) => link.slice(1));
    expect([0, 1, 2].map(neighbours)).toEqual([
      [["/docs/guide/errors", "next"]],
      [
        ["/docs/guide", "prev"],
        ["/docs/guide/lists", "next"],
      ],
      [["/docs/guide/errors", "prev"]],
    ]);
  });

  test("guidePage renders a search box that is hidden until the script runs", () => {
    expect(guidePage(guide, 0).aside?.text).toContain("<search hidden>");
  });
});
