import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const listFiles = (...patterns: string[]) =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", ...patterns], { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((path) => path && existsSync(join(root, path)));
const documents = listFiles("*.md");

const services = readdirSync(join(root, "services")).map((name) => join("services", name));
const workspaces = [
  ...services,
  ...readdirSync(join(root, "packages")).map((name) => join("packages", name)),
  "bench",
  "chaos",
  "cli",
  "e2e",
  "sdks",
];

/**
 * Returns the possible locations of each path in a document. Paths are relative links, and texts in
 * back ticks that start with a folder of the repository, a service or a package. Ignores paths with
 * <placeholders>.
 */
function findPaths(document: string): string[][] {
  const text = readFileSync(join(root, document), "utf8");
  const quoted = (folders: string) =>
    [...text.matchAll(new RegExp(`\`((?:${folders})/[^\`\\s<*{]*)\``, "g"))].map(([, path]) => path ?? "");
  const ownWorkspace = workspaces.find((workspace) => document.startsWith(`${workspace}/`));
  return [
    ...quoted("services|packages|proto|docs|deploy|bench|chaos|cli|e2e|sdks|\\.ci|\\.github").map((path) => [path]),
    // A document outside of the workspaces can mean the path in any service.
    ...quoted("src|test|migrations").map((path) =>
      (ownWorkspace ? [ownWorkspace] : services).map((folder) => join(folder, path)),
    ),
    ...[...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, path]) => [join(dirname(document), path ?? "")]),
  ];
}

test.each(documents)("the document %s contains only paths of existing files and folders", (document) => {
  const missing = findPaths(document).filter((locations) => !locations.some((path) => existsSync(join(root, path))));
  expect(missing.map(([path]) => path)).toEqual([]);
});

/** Returns the anchor that GitHub and editors create for a heading. */
const createAnchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

const readHeadings = (document: string) =>
  [...readFileSync(join(root, document), "utf8").matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading ?? "");

test.each(documents)("the document %s links only to existing headings", (document) => {
  const text = readFileSync(join(root, document), "utf8");
  const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)];
  const missing = links.filter(([, path, anchor]) => {
    const target = path ? join(dirname(document), path) : document;
    return (
      target.endsWith(".md") &&
      existsSync(join(root, target)) &&
      !readHeadings(target).some((heading) => createAnchor(heading) === anchor)
    );
  });
  expect(missing.map(([link]) => link)).toEqual([]);
});

/** Returns the heading, status line and text of each decision on a page. */
const readDecisions = (page: string) =>
  readFileSync(join(root, page), "utf8")
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [heading = "", , status = "", ...rest] = section.trimEnd().split("\n");
      return { heading, status, text: rest.join("\n") };
    });

const decisionPages = documents.filter((path) => /^docs\/decisions\/(?!README)/.test(path));

test("docs/decisions/README.md links to every other page of its folder, and each of these pages contains decisions", () => {
  expect(decisionPages.filter((page) => readDecisions(page).length === 0)).toEqual([]);
  const index = readFileSync(join(root, "docs/decisions/README.md"), "utf8");
  expect(decisionPages.filter((page) => !index.includes(`](${page.slice("docs/decisions/".length)})`))).toEqual([]);
});

test.each(decisionPages)(
  "the decision page %s has a status for each decision, and has context, decision and consequences for decisions that are not superseded",
  (page) => {
    const faults = readDecisions(page).flatMap(({ heading, status, text }) => {
      if (/^Status: superseded by \[[^\]]+\]\([^)]+\)$/.test(status)) {
        return text.trim() === "" ? [] : [`"${heading}": remove the text below the line "Status: superseded by"`];
      }
      if (!/^Status: accepted · \d{4}-\d\d-\d\d$/.test(status)) {
        return [`"${heading}": write "Status: accepted · YYYY-MM-DD" or "Status: superseded by [title](page.md#anchor)"`];
      }
      const parts = [...text.matchAll(/^\*\*(Context|Decision|Alternatives|Consequences)\.\*\*/gm)].map(([, part]) => part);
      const required = ["Context", "Decision", "Consequences"];
      const hasAll = parts.filter((part) => part !== "Alternatives").join() === required.join();
      return hasAll
        ? []
        : [`"${heading}": write the paragraphs ${required.map((part) => `**${part}.**`).join(", ")}, in this order`];
    });
    expect(faults).toEqual([]);
  },
);

test("comments in source files are at most 100 columns wide, except tables and comments for tools", () => {
  const isWide = (line: string) => line.length > 100 && /^ *(\/\/|\*|\/\*)/.test(line) && !/ \| |biome-ignore/.test(line);
  const wide = listFiles("services/*.ts", "packages/*.ts", "cli/*.ts", "sdks/*.ts")
    .filter((path) => !path.includes("/gen/"))
    .flatMap((path) => {
      const lines = readFileSync(join(root, path), "utf8").split("\n");
      return lines.flatMap((line, i) => (isWide(line) ? [`${path}:${i + 1}`] : []));
    });
  expect(wide).toEqual([]);
});
