import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@amana/dev-env/postgres";

/** Starts a PostgreSQL that all files of a test run share, and returns a function that stops it. */
export default async function setup(): Promise<() => Promise<void>> {
  const dir = mkdtempSync(join(tmpdir(), "amana-test-"));
  // If root runs the tests, PostgreSQL runs as another user, which needs access to this folder.
  chmodSync(dir, 0o711);
  const postgres = await startPostgres({ dataDir: join(dir, "postgres"), durable: false, log: () => {} });
  process.env["AMANA_TEST_POSTGRES_URL"] = postgres.superuserUrl;
  return async () => {
    await postgres.stop();
    rmSync(dir, { recursive: true, force: true });
  };
}
