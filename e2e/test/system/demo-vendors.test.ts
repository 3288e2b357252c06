import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { findFiles } from "../../src/find-everywhere.ts";
import { copySystemData } from "../../src/system-data.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const program = join(root, "packages", "dev-env", "src", "demo", "demo.ts");

/** The sandbox puts this text into each personal field of a vendor's responses and callbacks. */
const personalText = "canary";

test.each(["didit", "sumsub"])(
  "the demo program passes with KYC_PROVIDER=%s, and Amana neither stores nor logs the personal data of the vendor's responses",
  async (vendor) => {
    const folder = await mkdtemp(join(tmpdir(), "amana-demo-"));
    try {
      await copySystemData(folder, { withPostgres: true });
      const env = { ...process.env, AMANA_DIR: folder, KYC_PROVIDER: vendor };
      const { stdout } = await promisify(execFile)(process.execPath, [program], { cwd: root, env, timeout: 240_000 });
      expect(stdout).toContain("The demo passed: all steps have the expected results.");
      expect(await findFiles(folder, [personalText])).toEqual([]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
  260_000,
);

test("the demo program prints the permitted values if KYC_PROVIDER has an unknown value", async () => {
  const folder = await mkdtemp(join(tmpdir(), "amana-demo-"));
  const env = { ...process.env, AMANA_DIR: folder, KYC_PROVIDER: "veriff" };
  const run = promisify(execFile)(process.execPath, [program], { cwd: root, env, timeout: 240_000 });
  const { stdout, stderr } = await run.then(
    () => ({ stdout: "", stderr: "" }),
    (error: { stdout: string; stderr: string }) => error,
  );
  await rm(folder, { recursive: true, force: true });
  expect(stdout + stderr).toMatch(/KYC_PROVIDER has the unknown value "veriff"\.\s+Set it to port, didit, sumsub/);
}, 260_000);
