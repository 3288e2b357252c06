import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@amana/dev-env/postgres";
import { aBusiness, copyPostgresData, startTestSystem } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import type { Attempt, Program } from "../program.ts";
import { createRandom } from "../random.ts";
import { crash } from "./crash.ts";
import { Ledger } from "./ledger.ts";
import { quickRereads, restore } from "./restore.ts";

const writers = 6;

/**
 * PostgreSQL killed with SIGKILL in the middle of writing, with fsync on, again and again: whatever
 * was answered with 2xx is there afterwards, as it was answered, and the same Idempotency-Key gives
 * the same answer. Then the payments database alone is put back to an earlier state, see
 * restore.ts.
 */
export const database: Program = {
  attacks: "P2: an answer of 2xx does not survive a crash of PostgreSQL; a restored database forgets a refund",
  run,
};

async function run({ seed, signal, report, say }: Attempt): Promise<void> {
  const random = createRandom(seed);
  const dir = await mkdtemp(join(tmpdir(), "amana-break-database-"));
  const dataDir = join(dir, "postgres");
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  await copyPostgresData(dir);
  const postgres = await startPostgres({ dataDir, durable: true, log: () => {} });
  stack.defer(() => postgres.stop());
  const { system } = stack.use(await startTestSystem("direct", quickRereads, { databaseUrl: postgres.superuserUrl }));
  const business = await aBusiness(system);
  stack.defer(() => business.receiver[Symbol.asyncDispose]());
  say("the system runs, fsync on");

  const ledger = new Ledger(system, business, report);
  for (let round = 1; round === 1 || !signal.aborted; round++) {
    const stop = new AbortController();
    const writing = Array.from({ length: writers }, () => ledger.write(random.fork(), stop.signal));
    await sleep(random.integer(300, 2_000));
    await crash(postgres, dataDir);
    report.count("PostgreSQL killed (-9)");
    // Whoever writes goes on, and must be answered again without anything being restarted but
    // PostgreSQL.
    await ledger.untilAnswered(120_000);
    stop.abort();
    await Promise.all(writing);
    const read = await ledger.checkNewest();
    say(`crash ${round}: ${read} answers of 2xx since the last one are all there`);
  }
  await ledger.checkWebhooks();
  await restore({ system, business, postgres, random, report, say });
}
