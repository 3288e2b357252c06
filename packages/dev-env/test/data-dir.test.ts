import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openDataDir, removeData } from "../src/data-dir.ts";
import { DevEnvError } from "../src/dev-env-error.ts";

const root = join(import.meta.dirname, "..", "..", "..");
let parent: string;
let dir: string;

beforeEach(async () => {
  parent = await realpath(await mkdtemp(join(tmpdir(), "amana data é ")));
  dir = join(parent, "data");
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(parent, { recursive: true, force: true });
});

async function write(...names: string[]): Promise<void> {
  for (const name of names) {
    await mkdir(join(dir, dirname(name)), { recursive: true });
    await writeFile(join(dir, name), "{}");
  }
}

const both = [
  ["start", openDataDir],
  ["start --fresh", removeData],
] as const;

test.each(both)("%s refuses the root of the project, its parents, the home folder and /", async (_, use) => {
  vi.stubEnv("HOME", dir);
  await mkdir(dir);
  const before = await readdir(root);
  for (const folder of [root, dirname(root), dir, parent, "/"]) {
    await expect(use(folder)).rejects.toThrow(/cannot be the data folder: it (is|contains) (the project|your home folder)/);
  }
  expect(homedir()).toBe(dir);
  expect(await readdir(root)).toEqual(before);
});

test.each(both)("%s refuses a link to the root of the project", async (_, use) => {
  await symlink(root, dir);
  await expect(use(dir)).rejects.toThrow(/it is the project/);
});

test.each(both)("%s refuses a folder of other files, also under names that Amana uses, and keeps them", async (_, use) => {
  await write("postgres/base", "letter.txt");
  await expect(use(dir)).rejects.toThrow(/holds files that Amana did not create \(letter.txt, postgres\)/);
  expect((await readdir(dir)).sort()).toEqual(["letter.txt", "postgres"]);
});

test.each(both)("%s refuses a file, and never advises to delete data", async (_, use) => {
  await writeFile(dir, "");
  const error = await use(dir).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(DevEnvError);
  expect((error as DevEnvError).message).not.toContain("--fresh");
  await expect(openDataDir(join(dir, "below"))).rejects.toThrow(DevEnvError);
});

test("start --fresh deletes what Amana created, keeps results of attack programs, and follows a link", async () => {
  const link = join(parent, "link");
  await mkdir(dir);
  await symlink(dir, link);
  expect(await openDataDir(link)).toBe(dir);
  await write("postgres/PG_VERSION", "kafka/data", "logs/kyc.log", "secrets.json", "secrets.json.new", "postgres.new-password");
  await write("matrix/2026-01-01.jsonl");
  await removeData(link);
  expect((await readdir(dir)).sort()).toEqual(["amana-data", "matrix"]);
  expect(await openDataDir(link)).toBe(dir);
});

test("start --fresh deletes nothing while the folder holds a file of somebody else, and names the file", async () => {
  await openDataDir(dir);
  await write("secrets.json", "notes.txt");
  await expect(removeData(dir)).rejects.toThrow(/--fresh deletes nothing: .* \(notes.txt\)/);
  expect((await readdir(dir)).sort()).toEqual(["amana-data", "notes.txt", "secrets.json"]);
});

test("a folder of an earlier version, which has no marker, is used and can be emptied", async () => {
  await write("postgres/PG_VERSION", "logs/kyc.log");
  await writeFile(join(dir, "secrets.json"), JSON.stringify({ adminKey: "ak_1", databasePassword: "ff" }));
  await removeData(dir);
  expect(await readdir(dir)).toEqual([]);
  expect(await openDataDir(dir)).toBe(dir);
});

test("start --fresh without a data folder does nothing", async () => {
  await removeData(dir);
  expect(existsSync(dir)).toBe(false);
});
