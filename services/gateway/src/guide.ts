import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { escapeText } from "@amana/pages";
import { Marked, Renderer, type Tokens } from "marked";

/**
 * Makes HTML of docs/guide/ for `routes/guide.ts`, a title in the first line of each file, or with
 * --check says whether what is there is up to date. An image has no docs/, so the pages are kept.
 */
const source = new URL("../../../docs/guide/", import.meta.url);
const target = new URL("./pages/assets/guide/", import.meta.url);

/** What the gateway serves besides; named in a text, it becomes a link. */
const served = /^\/(docs(\/guide)?|problems|openapi\.json|llms\.txt)$/;
const addressOf = (name: string) => (name === "index" ? "/docs/guide" : `/docs/guide/${name}`);
/** As GitHub names headings. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

/** Marks up what Markdown can say and nothing else: no HTML of a page's own, no image. */
class PageRenderer extends Renderer {
  override heading({ tokens, depth, text }: Tokens.Heading): string {
    return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
  }
  // Whoever has no mouse scrolls what got the focus.
  override code({ text }: Tokens.Code): string {
    return `<pre tabindex="0"><code>${escapeText(text)}</code></pre>\n`;
  }
  override table(token: Tokens.Table): string {
    return `<div class="table" tabindex="0">${super.table(token)}</div>\n`;
  }
  override codespan({ text }: Tokens.Codespan): string {
    const code = `<code>${escapeText(text)}</code>`;
    return served.test(text) ? `<a href="${text}">${code}</a>` : code;
  }
  override link({ href, tokens }: Tokens.Link): string {
    const [, file, anchor = ""] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
    if (file === undefined && !href.startsWith("https://")) throw new Error(`docs/guide: a link to ${href} cannot be served`);
    const address = file === undefined ? href : `${addressOf(file === "README" ? "index" : file)}${anchor}`;
    return `<a href="${address}">${this.parser.parseInline(tokens)}</a>`;
  }
  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    if (!text.trim().startsWith("<!--")) throw new Error(`docs/guide: ${text} cannot be served`);
    return "";
  }
  override image({ href }: Tokens.Image): string {
    throw new Error(`docs/guide: the image ${href} cannot be served`);
  }
}

// As an extension its methods would not be found, because a class does not enumerate them.
const marked = new Marked().setOptions({ renderer: new PageRenderer() });
const read = (file: string) => readFileSync(new URL(file, source), "utf8");
const titleOf = (text: string) => /^# (.*)\n/.exec(text)?.[1] ?? "";

/** Every page in the order of the first one's list. */
const order = ["index", ...[...read("README.md").matchAll(/^\d+\. \[.*\]\((.*)\.md\)/gm)].map(([, name = ""]) => name)];

function pageOf(name: string, i: number): string {
  const text = read(name === "index" ? "README.md" : `${name}.md`);
  const link = (other: string | undefined, mark: (title: string) => string) =>
    other === undefined
      ? "<span></span>"
      : `<a href="${addressOf(other)}">${mark(escapeText(titleOf(read(other === "index" ? "README.md" : `${other}.md`))))}</a>`;
  const footer = `<footer>${link(order[i - 1], (title) => `← ${title}`)}${link(order[i + 1], (title) => `${title} →`)}</footer>\n`;
  return `${titleOf(text)}\n${marked.parse(text.slice(text.indexOf("\n") + 1))}${footer}`;
}

/** For programs that read for somebody (llmstxt.org): what there is, by the guide's own list. */
function textForPrograms(): string {
  const lines = [...read("README.md").matchAll(/^\d+\. \[(.*)\]\((.*)\.md\): (.*)$/gm)];
  const guide = lines.map(([, title, name = "", what]) => `- [${title}](${addressOf(name)}): ${what}`).join("\n");
  return `# Amana

> An HTTP API for businesses: identity verification, clients and accounts, card payments in Algeria (SATIM) and signed webhooks.

Read the page on payments before you write code that creates or refunds one: after 502, 503 and 504 the next step differs.

## Guide

${guide}

## Reference

- [OpenAPI 3.1](/openapi.json): every operation, field and webhook
- [Problems](/problems): every error code, with its status and whether another try helps
`;
}

const pages = new Map([...order.map((name, i) => [`${name}.html`, pageOf(name, i)] as const), ["llms.txt", textForPrograms()]]);
if (order.length !== readdirSync(source).length) throw new Error("docs/guide/README.md must list every page beside it");

const there = () => readdirSync(target).filter((file) => !pages.has(file));
if (!process.argv.includes("--check")) {
  mkdirSync(target, { recursive: true });
  for (const file of there()) rmSync(new URL(file, target));
  for (const [file, text] of pages) writeFileSync(new URL(file, target), text);
} else {
  const current = (file: string) => {
    try {
      return readFileSync(new URL(file, target), "utf8");
    } catch {
      return undefined;
    }
  };
  const stale = [...there(), ...[...pages].filter(([file, text]) => current(file) !== text).map(([file]) => file)];
  if (stale.length > 0) {
    process.stderr.write(`Not what docs/guide/ says: ${stale.join(", ")}. Run \`npx --yes pnpm@12 generate\`.\n`);
    process.exitCode = 1;
  }
}
