import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "..", "..", "..", "docs", "guide");

/** A code sample of a guide page. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /**
   * Variables that the test sets from members of the response. They are in the comment
   * `<!-- keep … -->` before the sample. Sentences of the page, such as "keep the id as PAYMENT",
   * contain the same variables.
   */
  readonly keptVariables: readonly (readonly [variable: string, member: string])[];
}

export const guidePages = readdirSync(folder).map((file) => file.replace(/\.md$/, ""));

export const readGuidePage = (page: string): string => readFileSync(join(folder, `${page}.md`), "utf8");

/** Returns all samples of a page in order. A `keep` comment belongs to the sample after it. */
export function readBlocks(page: string): Block[] {
  const parts = [...readGuidePage(page).matchAll(/^<!-- keep (.*) -->$|^```(\w+)\n([\s\S]*?)^```$/gm)];
  return parts.flatMap(([, , language, text = ""], i) => {
    if (language === undefined) return [];
    const words = parts[i - 1]?.[1]?.split(" ") ?? [];
    return [{ language, text, keptVariables: words.map((word) => word.split("=") as [string, string]) }];
  });
}

/** Returns the only sample of a page in this language. */
export function readBlock(page: string, language: string): string {
  const matching = readBlocks(page).filter((block) => block.language === language);
  if (matching.length !== 1) throw new Error(`${page} has ${matching.length} samples in ${language}`);
  return matching[0]?.text ?? "";
}

/** Returns the rows of all tables below a heading. Each cell is text without Markdown. */
export function readRows(page: string, heading: string): string[][] {
  const [, section = ""] = readGuidePage(page).split(`\n## ${heading}\n`);
  const [text = ""] = section.split("\n## ");
  return text
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| ---"))
    .map((line) =>
      line
        .slice(2, -1)
        .split(/ ?\| ?/)
        .map((cell) => cell.replaceAll("`", "").trim()),
    );
}
