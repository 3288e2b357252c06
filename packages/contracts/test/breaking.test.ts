import { spawnSync } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const packageDir = join(import.meta.dirname, "..");

/**
 * Runs `buf breaking` on a copy of the contracts with this edit of payment.proto. Returns the exit
 * code and the output.
 */
async function breakingAfter(edit: (text: string) => string) {
  const dir = await mkdtemp(join(tmpdir(), "amana-breaking-"));
  try {
    await cp(join(packageDir, "..", "..", "proto"), dir, { recursive: true });
    const file = join(dir, "payments", "v1", "payment.proto");
    const text = await readFile(file, "utf8");
    const edited = edit(text);
    expect(edited).not.toBe(text);
    await writeFile(file, edited);
    const buf = join(packageDir, "node_modules", ".bin", "buf");
    const against = join(packageDir, "released.binpb");
    const { status, stdout } = spawnSync(buf, ["breaking", "--against", against], {
      cwd: dir,
      encoding: "utf8",
      timeout: 60_000,
    });
    return { status, output: stdout };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

test("`buf breaking` accepts a new field, and rejects a change that is incompatible with the last release", async () => {
  const withNewField = await breakingAfter((text) =>
    text.replace("message Payment {", "message Payment {\n  string added_later = 999;"),
  );
  expect(withNewField).toEqual({ status: 0, output: "" });
  const renumbered = await breakingAfter((text) => text.replace("string business_id = 2;", "string business_id = 998;"));
  expect(renumbered.status).not.toBe(0);
  expect(renumbered.output).toMatch(/"2" with name "business_id" on message "Payment"/);
});
