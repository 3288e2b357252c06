import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findProse, type Prose } from "./find-prose.ts";
import { violationsOf } from "./style-rules.ts";

const root = join(import.meta.dirname, "..", "..", "..");

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.ts", "*.mjs", "*.js"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((path) => path && existsSync(join(root, path)) && !/\/(gen|generated|assets)\/|\/style(\.test|-rules)\.ts$/.test(path));

/** Returns a line for each rule that a text breaks, with the words to use. */
const problemsOf = ({ kind, text, line }: Prose) =>
  violationsOf(text, kind).map(
    ({ found, prefer }) => `line ${line}, ${kind}: "${text.slice(0, 120)}" has "${found}"; use: ${prefer}`,
  );

test.each(files)("comments, test titles and messages of %s use plain words", (file) => {
  const prose = findProse(file, readFileSync(join(root, file), "utf8"));
  expect(prose.flatMap(problemsOf)).toEqual([]);
});
