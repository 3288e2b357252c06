import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Postgres } from "@amana/dev-env/postgres";
import { sleep } from "@amana/runtime";
import { Client } from "pg";

const triesMax = 200;

/**
 * Kills the postmaster with SIGKILL, whose children notice and end, and starts it again on the same
 * data.
 */
export async function crash(postgres: Postgres, dataDir: string): Promise<void> {
  const [pid = ""] = (await readFile(join(dataDir, "postmaster.pid"), "utf8")).split("\n");
  process.kill(Number(pid), "SIGKILL");
  for (let tries = 1; ; tries++) {
    await sleep(100);
    try {
      await postgres.start();
      return await answers(postgres.superuserUrl);
    } catch (error) {
      // Its end may not have been noticed yet; its children may live a moment longer, and it
      // rightly does not start beside them.
      if (tries === triesMax) throw error;
    }
  }
}

async function answers(connectionString: string): Promise<void> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 2_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("select 1");
  } finally {
    await client.end().catch(() => {});
  }
}
