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

const commands = [
  ["start", openDataDir],
  ["start --fresh", removeData],
] as const;

test.each(commands)(
  "the command %s rejects the root of the project, its parent folders, the home folder and / as data folder",
  async (_, use) => {
    vi.stubEnv("HOME", dir);
    await mkdir(dir);
    const entriesBefore = await readdir(root);
    for (const folder of [root, dirname(root), dir, parent, "/"]) {
      await expect(use(folder)).rejects.toThrow(/cannot be the data folder: it (is|contains) (the project|your home folder)/);
    }
    expect(homedir()).toBe(dir);
    expect(await readdir(root)).toEqual(entriesBefore);
  },
);

test.each(commands)("the command %s rejects a link to the root of the project as data folder", async (_, use) => {
  await symlink(root, dir);
  await expect(use(dir)).rejects.toThrow(/it is the project/);
});

test.each(commands)(
  "the command %s rejects a data folder that contains a file of another program, and deletes nothing in the folder",
  async (_, use) => {
    await write("postgres/base", "notes.txt");
    await expect(use(dir)).rejects.toThrow(/contains files that Amana did not create \(notes.txt, postgres\)/);
    expect((await readdir(dir)).sort()).toEqual(["notes.txt", "postgres"]);
  },
);

test.each(commands)(
  "the command %s rejects a file as data folder with an error that does not mention --fresh",
  async (_, use) => {
    await writeFile(dir, "");
    const error = await use(dir).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DevEnvError);
    expect((error as DevEnvError).message).not.toContain("--fresh");
    await expect(openDataDir(join(dir, "below"))).rejects.toThrow(DevEnvError);
  },
);

test("`pnpm start --fresh` deletes the files that Amana created in a data folder behind a symbolic link, and keeps the results of attack programs", async () => {
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

test("`pnpm start --fresh` deletes nothing and prints a file's name if the data folder contains a file that Amana did not create", async () => {
  await openDataDir(dir);
  await write("secrets.json", "notes.txt");
  await expect(removeData(dir)).rejects.toThrow(/--fresh deletes nothing: .* \(notes.txt\)/);
  expect((await readdir(dir)).sort()).toEqual(["amana-data", "notes.txt", "secrets.json"]);
});

test("`pnpm start`, with and without --fresh, accepts a data folder of an earlier version, which has no marker file", async () => {
  await write("postgres/PG_VERSION", "logs/kyc.log");
  await writeFile(join(dir, "secrets.json"), JSON.stringify({ adminKey: "ak_1", databasePassword: "ff" }));
  await removeData(dir);
  expect(await readdir(dir)).toEqual([]);
  expect(await openDataDir(dir)).toBe(dir);
});

test("`pnpm start --fresh` succeeds when there is no data folder", async () => {
  await removeData(dir);
  expect(existsSync(dir)).toBe(false);
});
