import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");
const filesLike = (...patterns: string[]) =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", ...patterns], { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((path) => path && existsSync(join(root, path)));
const documents = filesLike("*.md");

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
 * Where a document may mean, for each path it names: paths in back ticks that begin with a folder
 * of the repository, or with one of a service or package, and relative links. Paths with
 * <placeholders> are left out.
 */
function pathsIn(document: string): string[][] {
  const text = readFileSync(join(root, document), "utf8");
  const quoted = (folders: string) =>
    [...text.matchAll(new RegExp(`\`((?:${folders})/[^\`\\s<*{]*)\``, "g"))].map(([, path]) => path ?? "");
  const own = workspaces.find((workspace) => document.startsWith(`${workspace}/`));
  return [
    ...quoted("services|packages|proto|docs|deploy|bench|chaos|cli|e2e|sdks|\\.ci|\\.github").map((path) => [path]),
    // In a document of the whole project it is the same place in each service that has one.
    ...quoted("src|test|migrations").map((path) => (own ? [own] : services).map((place) => join(place, path))),
    ...[...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, path]) => [join(dirname(document), path ?? "")]),
  ];
}

test.each(documents)("every path that %s names exists", (document) => {
  const missing = pathsIn(document).filter((places) => !places.some((path) => existsSync(join(root, path))));
  expect(missing.map(([path]) => path)).toEqual([]);
});

test("no comment in the code is wider than a hundred columns, but for tables and what tools read", () => {
  const isWide = (line: string) => line.length > 100 && /^ *(\/\/|\*|\/\*)/.test(line) && !/ \| |biome-ignore/.test(line);
  const wide = filesLike("services/*.ts", "packages/*.ts", "cli/*.ts", "sdks/*.ts")
    .filter((path) => !path.includes("/gen/"))
    .flatMap((path) => {
      const lines = readFileSync(join(root, path), "utf8").split("\n");
      return lines.flatMap((line, i) => (isWide(line) ? [`${path}:${i + 1}`] : []));
    });
  expect(wide).toEqual([]);
});
