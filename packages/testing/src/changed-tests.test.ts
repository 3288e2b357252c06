import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { changedTests, testsOfOtherWorkspaces } from "./changed-tests.ts";

const repository = mkdtempSync(join(tmpdir(), "amana-changed-"));
const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=test", "-c", "user.email=test@example.dz", ...args], {
    cwd: repository,
    stdio: "ignore",
  });
const write = (path: string) => {
  mkdirSync(dirname(join(repository, path)), { recursive: true });
  writeFileSync(join(repository, path), "changed");
};

git("init", "--initial-branch=main");
git("commit", "--allow-empty", "--message=first");
beforeEach(() => {
  git("checkout", "-B", "change", "main");
  git("clean", "-fd");
});
afterAll(() => rmSync(repository, { recursive: true, force: true }));

test("changedTests returns the workspaces of committed and new files, and the tests in `testsOfOtherWorkspaces`", () => {
  write("packages/rpc/src/server.ts");
  git("add", ".");
  git("commit", "--message=second");
  write("services/kyc/src/new.ts");
  expect(changedTests(repository)).toEqual(["packages/rpc/", "services/kyc/", ...testsOfOtherWorkspaces]);
});

test("changedTests returns only the tests in `testsOfOtherWorkspaces` when only documents have changed", () => {
  write("docs/guide/webhooks.md");
  write("packages/rpc/README.md");
  expect(changedTests(repository)).toEqual(testsOfOtherWorkspaces);
});

test("changedTests returns undefined when a file that all workspaces share has changed", () => {
  write("proto/kyc/v1/kyc.proto");
  expect(changedTests(repository)).toBeUndefined();
});

test("`testsOfOtherWorkspaces` of changedTests contains each unit test that reads docs/api/openapi.json", () => {
  const root = join(import.meta.dirname, "..", "..", "..");
  const tests = globSync("{packages/*,services/*,chaos,e2e}/src/**/*.test.ts", { cwd: root });
  const readsDocument = (path: string) =>
    path !== relative(root, import.meta.filename) &&
    /docs\/api\/openapi\.json|"docs", "api", "openapi\.json"/.test(readFileSync(join(root, path), "utf8"));
  const found = tests.filter(readsDocument);
  expect(found.length).toBeGreaterThan(1);
  expect(found.filter((path) => !testsOfOtherWorkspaces.includes(path))).toEqual([]);
});

test("`testsOfOtherWorkspaces` of changedTests contains only existing files of the repository", () => {
  const root = join(import.meta.dirname, "..", "..", "..");
  expect(testsOfOtherWorkspaces.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
