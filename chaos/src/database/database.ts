import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@amana/dev-env/postgres";
import { aBusiness, copyPostgresData, startTestSystem } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import type { Program, ProgramRun } from "../program.ts";
import { createRandom } from "../random.ts";
import { crash } from "./crash.ts";
import { Ledger } from "./ledger.ts";
import { quickRereads, restore } from "./restore.ts";

const writerCount = 6;

/**
 * Repeatedly kills PostgreSQL (fsync on) with SIGKILL during writes. After each crash, every
 * resource of an earlier 2xx response must be unchanged, and a repeated request with the same
 * Idempotency-Key must return the same response. At the end, `restore.ts` resets the payments
 * database to an earlier state.
 */
export const databaseProgram: Program = {
  summary:
    "P2: kill PostgreSQL during writes, then restore an old payments database; no 2xx response is lost, no refund repeated",
  run,
};

async function run({ seed, signal, report, log }: ProgramRun): Promise<void> {
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
  log("the system is running with fsync on");

  const ledger = new Ledger(system, business, report);
  for (let round = 1; round === 1 || !signal.aborted; round++) {
    const stop = new AbortController();
    const writes = Array.from({ length: writerCount }, () => ledger.write(random.fork(), stop.signal));
    await sleep(random.integer(300, 2_000));
    await crash(postgres, dataDir);
    report.count("PostgreSQL killed (-9)");
    // The writers continue and must get responses again, although no service was restarted.
    await ledger.waitForSuccess(120_000);
    stop.abort();
    await Promise.all(writes);
    const checkedCount = await ledger.checkNewEntries();
    log(`crash ${round}: ${checkedCount} responses with 2xx since the previous crash were checked`);
  }
  await ledger.checkWebhooks();
  await restore({ system, business, postgres, random, report, log });
}
