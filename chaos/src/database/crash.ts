import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Postgres } from "@amana/dev-env/postgres";
import { runCommand } from "@amana/dev-env/run-command";
import { sleep } from "@amana/runtime";
import { Client } from "pg";

const triesMax = 200;

/**
 * Kills all processes of PostgreSQL and starts it again on the same data. No process may survive,
 * because it could still flush commits to the disk.
 */
export async function crash(postgres: Postgres, dataDir: string): Promise<void> {
  const [pid = ""] = (await readFile(join(dataDir, "postmaster.pid"), "utf8")).split("\n");
  const { output } = await runCommand("pgrep", ["-P", pid], { timeoutMs: 10_000 });
  for (const target of [pid, ...output.split("\n").filter(Boolean)]) kill(Number(target));
  for (let tries = 1; ; tries++) {
    await sleep(100);
    try {
      await postgres.start();
      return await queryOnce(postgres.superuserUrl);
    } catch (error) {
      // The start fails while the exit of the killed server is not detected yet, or while its child
      // processes still run.
      if (tries === triesMax) throw error;
    }
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    // ESRCH: the process has already ended.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

async function queryOnce(connectionString: string): Promise<void> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 2_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("select 1");
  } finally {
    await client.end().catch(() => {});
  }
}
