import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const folder = join(import.meta.dirname, "..", "..", "..", ".github", "workflows");

test("GitHub workflows pin each action to a full commit SHA, with its version in a comment", async () => {
  const texts = await Promise.all((await readdir(folder)).map((file) => readFile(join(folder, file), "utf8")));
  const actions = texts.flatMap((text) => [...text.matchAll(/\buses: *(.*)/g)].map(([, action = ""]) => action));
  expect(actions).not.toEqual([]);
  expect(actions.filter((action) => !/^[\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
});
