import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");
const documents = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter(Boolean);

/** Paths in back ticks that begin with a folder of the repository, without <placeholders>, and relative links. */
function pathsIn(document: string): string[] {
  const text = readFileSync(join(root, document), "utf8");
  const quoted = [...text.matchAll(/`((?:services|packages|proto|docs|deploy|bench|\.ci)\/[^`\s<*{]*)`/g)].map(
    ([, path]) => path ?? "",
  );
  const links = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, path]) => join(dirname(document), path ?? ""));
  return [...quoted, ...links];
}

test.each(documents)("every path that %s names exists", (document) => {
  const missing = pathsIn(document).filter((path) => !existsSync(join(root, path)));
  expect(missing).toEqual([]);
});
