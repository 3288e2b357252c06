import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { escapeText } from "@amana/pages";
import { Marked, Renderer, type Tokens } from "marked";
import { rolldown } from "rolldown";
import { guidePath } from "./pages/guide-pages.ts";

/**
 * Generates the files that `routes/guide.ts` serves: HTML from docs/guide/ with the title in the
 * first line, the order of the pages, llms.txt, and the search script bundled with MiniSearch. With
 * --check, compares the generated files with the existing files and writes no files. The generated
 * files are committed, because a container image does not contain docs/.
 */
const source = new URL("../../../docs/guide/", import.meta.url);
const target = new URL("./pages/assets/guide/", import.meta.url);

/** Paths of the gateway outside the guide. The renderer turns these paths into links. */
const gatewayPath = /^\/(docs(\/guide)?|problems|openapi\.json|llms\.txt)$/;

/** Returns the anchor that GitHub gives to a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

/** Renders Markdown. Rejects HTML and images. */
class PageRenderer extends Renderer {
  readonly anchors = new Map<string, number>();

  override heading({ tokens, depth, text }: Tokens.Heading): string {
    const anchor = anchorOf(text);
    const count = this.anchors.get(anchor) ?? 0;
    this.anchors.set(anchor, count + 1);
    return `<h${depth} id="${count === 0 ? anchor : `${anchor}-${count}`}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
  }
  // The block is focusable, so that a reader can scroll it with the keyboard.
  override code({ text }: Tokens.Code): string {
    return `<pre tabindex="0"><code>${escapeText(text)}</code></pre>\n`;
  }
  override table(token: Tokens.Table): string {
    return `<div class="table" tabindex="0">${super.table(token)}</div>\n`;
  }
  override codespan({ text }: Tokens.Codespan): string {
    const code = `<code>${escapeText(text)}</code>`;
    return gatewayPath.test(text) ? `<a href="${text}">${code}</a>` : code;
  }
  override link({ href, tokens }: Tokens.Link): string {
    const [, file, anchor = ""] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
    if (file === undefined && !href.startsWith("https://"))
      throw new Error(`docs/guide: unsupported link ${href}. Link to a page of the guide or to an https:// URL.`);
    const address = file === undefined ? href : `${guidePath(file === "README" ? "index" : file)}${anchor}`;
    return `<a href="${address}">${this.parser.parseInline(tokens)}</a>`;
  }
  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    if (!text.trim().startsWith("<!--"))
      throw new Error(`docs/guide: unsupported HTML ${text}. Use Markdown or an HTML comment.`);
    return "";
  }
  override image({ href }: Tokens.Image): string {
    throw new Error(`docs/guide: unsupported image ${href}. Describe its content in text.`);
  }
}

const read = (file: string) => readFileSync(new URL(file, source), "utf8");
const titleOf = (text: string) => /^# (.*)\n/.exec(text)?.[1] ?? "";

/** Names of all pages in the order of the list on the first page. */
const order = ["index", ...[...read("README.md").matchAll(/^\d+\. \[.*\]\((.*)\.md\)/gm)].map(([, name = ""]) => name)];

function pageOf(name: string): string {
  const text = read(name === "index" ? "README.md" : `${name}.md`);
  // Passes the renderer as an option, because `use` ignores the methods of a class. These methods
  // are not enumerable.
  const marked = new Marked().setOptions({ renderer: new PageRenderer() });
  return `${titleOf(text)}\n${marked.parse(text.slice(text.indexOf("\n") + 1))}`;
}

/** Returns llms.txt (llmstxt.org): the list of the guide's pages for language models. */
function llmsText(): string {
  const lines = [...read("README.md").matchAll(/^\d+\. \[(.*)\]\((.*)\.md\): (.*)$/gm)];
  const guide = lines.map(([, title, name = "", description]) => `- [${title}](${guidePath(name)}): ${description}`).join("\n");
  return `# Amana

> An HTTP API for businesses: identity verification, clients and accounts, card payments in Algeria (SATIM) and signed webhooks.

Read the page on payments before you write code that creates or refunds payments: the next step differs after 502, 503 and 504.

## Guide

${guide}

## Reference

- [OpenAPI 3.1](/openapi.json): every operation, field and webhook
- [Problems](/problems): every error code, with its status and whether to retry
`;
}

/** Returns the search script and MiniSearch as one file. */
async function searchScript(): Promise<string> {
  await using bundle = await rolldown({ input: fileURLToPath(new URL("./pages/guide-search.js", import.meta.url)) });
  const { output } = await bundle.generate({ minify: true });
  return `/*! Contains MiniSearch, © Luca Ongaro, MIT License, https://github.com/lucaong/minisearch */\n${output[0].code}`;
}

const files = new Map([
  ...order.map((name) => [`${name}.html`, pageOf(name)] as const),
  ["order.json", `${JSON.stringify(order)}\n`],
  ["llms.txt", llmsText()],
  ["search.js", await searchScript()],
]);
if (order.length !== readdirSync(source).length) throw new Error("docs/guide/README.md must list all other pages of docs/guide/");

const listObsoleteFiles = () => readdirSync(target).filter((file) => !files.has(file));
if (!process.argv.includes("--check")) {
  mkdirSync(target, { recursive: true });
  for (const file of listObsoleteFiles()) rmSync(new URL(file, target));
  for (const [file, text] of files) writeFileSync(new URL(file, target), text);
} else {
  const isCurrent = (file: string, text: string) => {
    const url = new URL(file, target);
    return existsSync(url) && readFileSync(url, "utf8") === text;
  };
  const outdatedFiles = [...listObsoleteFiles(), ...[...files].flatMap(([file, text]) => (isCurrent(file, text) ? [] : [file]))];
  if (outdatedFiles.length > 0) {
    process.stderr.write(`Not up to date with docs/guide/: ${outdatedFiles.join(", ")}. Run \`npx --yes pnpm@12 generate\`.\n`);
    process.exitCode = 1;
  }
}
