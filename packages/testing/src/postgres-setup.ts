import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@amana/dev-env/postgres";

/** One PostgreSQL for a whole test run; its files' databases are copies of templates. */
export default async function setup(): Promise<() => Promise<void>> {
  const dir = mkdtempSync(join(tmpdir(), "amana-test-"));
  // Started by root, PostgreSQL runs as a user of its own, who must be able to pass through.
  chmodSync(dir, 0o711);
  const postgres = await startPostgres({ dataDir: join(dir, "postgres"), durable: false, log: () => {} });
  process.env["AMANA_TEST_POSTGRES_URL"] = postgres.superuserUrl;
  return async () => {
    await postgres.stop();
    rmSync(dir, { recursive: true, force: true });
  };
}
