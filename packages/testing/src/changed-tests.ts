import { execFileSync } from "node:child_process";

/** Paths of unit tests that read documents or the files of other workspaces. */
export const testsOfOtherWorkspaces: readonly string[] = [
  "chaos/src/tenants/resources.test.ts",
  "e2e/src/audited-operations.test.ts",
  "e2e/src/documents.test.ts",
  "packages/database/src/migrations.test.ts",
  "packages/runtime/src/runtime.test.ts",
  "packages/testing/src/expressions.test.ts",
  "packages/testing/src/style.test.ts",
  "services/gateway/src/openapi-texts.test.ts",
  "services/gateway/src/openapi.test.ts",
  "services/gateway/src/problem-catalogue.test.ts",
];

const workspace = /^(?:(?:packages|services)\/[^/]+|bench|chaos|sdks\/typescript|sdks)\//;
/** Matches files on which no unit test depends, except the tests in `testsOfOtherWorkspaces`. */
const withoutTests = /^(?:docs|deploy|\.github|\.ci)\/|\.md$/;

/**
 * Returns parts of test paths that select the tests for the changes since main: the tests of each
 * changed workspace, and `testsOfOtherWorkspaces`. Returns undefined when a file that all
 * workspaces share has changed.
 */
export function changedTests(root: string): string[] | undefined {
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: root, encoding: "utf8" })
      .split("\n")
      .filter((line) => line !== "");
  const [main = "HEAD"] = git("for-each-ref", "--format=%(refname)", "refs/remotes/origin/main", "refs/heads/main").toReversed();
  const changedFiles = [
    ...git("diff", "--name-only", "--merge-base", main),
    ...git("ls-files", "--others", "--exclude-standard"),
  ].filter((path) => !withoutTests.test(path));
  const folders = new Set(changedFiles.map((path) => workspace.exec(path)?.[0]));
  if (folders.has(undefined)) return undefined;
  return [...folders, ...testsOfOtherWorkspaces] as string[];
}
