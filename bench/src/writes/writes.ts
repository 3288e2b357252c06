import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProgress } from "@amana/dev-env/progress";
import { type System, startSystem } from "@amana/dev-env/system";
import pg from "pg";
import { type BareServer, measureLoad, type PostRequest, startBareServer } from "../bare-server.ts";
import { createPaidPayment } from "../paid-payment.ts";
import { log, median, printTable } from "../table.ts";
import { copyPaidPayment } from "./paid-payments.ts";

interface Write {
  readonly name: string;
  /** Services that process the request. */
  readonly services: readonly ("gateway" | "clients" | "payments" | "identity")[];
  readonly next: () => PostRequest;
}

const clientCount = 1_000;
/** Number of paid payments. Even the longest run refunds fewer payments. */
const paymentCount = 100_000;

/**
 * Measures creations of beneficiaries and refunds through the gateway, with a processor that
 * responds without a delay. Each request has an Idempotency-Key. Compares them with a bare server,
 * which runs the same statements in one transaction with Fastify and pg, and with a server that a
 * user of Fastify and MikroORM would write.
 */
export async function measureWrites({ rounds, seconds, quick }: { rounds: number; seconds: number; quick: boolean }) {
  const dir = await mkdtemp(join(tmpdir(), "amana-bench-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const quiet = { LOG_LEVEL: "warn" };
  const unlimited = {
    RATE_LIMIT_PER_SECOND: "0",
    RATE_LIMIT_CREATION_PER_SECOND: "0",
    RATE_LIMIT_REFUND_PER_SECOND: "0",
  };
  const env = { gateway: { ...unlimited, ...quiet }, clients: quiet, payments: quiet };
  const system = stack.use(await startSystem({ dir, events: "direct", progress: createProgress(), env }));
  const paidIds = await copyPaidPayment(
    system.ownerDatabaseUrls["payments"] ?? "",
    await createPaidPayment(system),
    quick ? 2_000 : paymentCount,
  );
  const processor = await startBareServer(stack, join("writes", "instant-processor.ts"), {});
  const { payments } = system.services;
  await payments.stop();
  await payments.start({ SATIM_URL: processor.url });
  await system.waitUntilReady();
  const servers: (BareServer & { server: string })[] = [];
  for (const server of ["bare-fastify-pg", "orm-fastify-mikroorm"]) {
    const env = { ...databasesOf(system), SATIM_URL: processor.url };
    servers.push({ server, ...(await startBareServer(stack, join("writes", `${server}.ts`), env)) });
  }

  const key = system.business.api_key;
  const rows: Record<string, string | number>[] = [];
  for (const write of [createBeneficiaryWrite(await addClients(system)), createRefundWrite(paidIds)]) {
    const pidsOf = () => write.services.flatMap((name) => system.services[name].pid() ?? []);
    const candidates = [
      ...servers.map(({ server, url, pid }) => ({ server, url, pids: [pid] })),
      { server: "amana gateway", url: system.gatewayUrl, pids: pidsOf() },
    ];
    for (const { server, url, pids } of candidates) await measureLoad(server, url, key, quick ? 1 : seconds, pids, write.next);
    const runs = candidates.map(() => ({ perSecond: [] as number[], p99: [] as number[], cpuUs: [] as number[] }));
    for (let round = 1; round <= rounds; round++) {
      for (const [i, { server, url, pids }] of candidates.entries()) {
        const { perSecond, p99Ms, cpuUs } = await measureLoad(server, url, key, seconds, pids, write.next);
        runs[i]?.perSecond.push(perSecond);
        runs[i]?.p99.push(p99Ms);
        runs[i]?.cpuUs.push(cpuUs);
        log(`round ${round} of ${rounds}: ${write.name}, ${server} ${perSecond.toFixed(0)} req/s`);
      }
    }
    const [pgRun, ormRun] = runs;
    for (const [i, { server }] of candidates.entries()) {
      const run = runs[i];
      const [perSecond, cpuUs] = [median(run?.perSecond ?? []), median(run?.cpuUs ?? [])];
      rows.push({
        write: write.name,
        server,
        "req/s (median)": Math.round(perSecond),
        "of bare pg (goal ≥ 0.5)": (perSecond / median(pgRun?.perSecond ?? [])).toFixed(2),
        "of ORM (goal ≥ 1.0)": (perSecond / median(ormRun?.perSecond ?? [])).toFixed(2),
        "p99 ms": median(run?.p99 ?? []),
        "cpu µs/req": Math.round(cpuUs),
        "cpu, of bare pg": (cpuUs / median(pgRun?.cpuUs ?? [])).toFixed(1),
        "cpu, of ORM": (cpuUs / median(ormRun?.cpuUs ?? [])).toFixed(2),
      });
    }
  }
  printTable(rows);
  return rows;
}

const databasesOf = ({ databaseUrls }: System) => ({
  IDENTITY_DATABASE_URL: databaseUrls["identity"] ?? "",
  CLIENTS_DATABASE_URL: databaseUrls["clients"] ?? "",
  PAYMENTS_DATABASE_URL: databaseUrls["payments"] ?? "",
});

/**
 * Adds clients and returns their ids. Many clients are needed, because each creation of a
 * beneficiary locks its client.
 */
async function addClients(system: System): Promise<string[]> {
  const database = new pg.Client({ connectionString: system.ownerDatabaseUrls["clients"] ?? "" });
  await database.connect();
  try {
    const { rows } = await database.query<{ id: string }>(clientsSql, [system.business.id, clientCount]);
    await database.query("vacuum (analyze)");
    return rows.map(({ id }) => id);
  } finally {
    await database.end();
  }
}

const clientsSql = `
  insert into client (id, business_id, first_name, last_name, date_of_birth, gender, birth_country, nationality,
    country_of_tax_residence, address, city, postcode, country_code, email, external_client_code, blocked, is_blacklisted,
    risk_level, kyc_level, kyc_status, created_at, updated_at)
  select uuidv7(), $1, 'Amina', 'Benali ' || i, '1990-05-17', 'female', 'DZA', 'DZA', 'DZA', '1 rue Didouche Mourad', 'Alger',
    '16000', 'DZA', 'person' || i || '@example.dz', 'code-' || i, false, false, 'LOW', 'FULL_KYC', 'VALIDATED', now(), now()
  from generate_series(1, $2::int) i
  returning id`;

function createBeneficiaryWrite(clientIds: readonly string[]): Write {
  let created = 0;
  return {
    name: "creation of a beneficiary",
    services: ["gateway", "clients", "identity"],
    next: () => ({
      path: "/api/v1/beneficiaries",
      key: randomUUID(),
      body: JSON.stringify({
        client_id: clientIds[created++ % clientIds.length],
        beneficiary_type: "PERSON",
        name: `Karim Haddad ${created}`,
        iban: "DZ580002100001113000000570",
        country_code: "DZA",
      }),
    }),
  };
}

function createRefundWrite(paymentIds: readonly string[]): Write {
  let started = 0;
  return {
    name: "refund",
    services: ["gateway", "payments", "identity"],
    next: () => ({ path: `/api/v1/payments/${paymentIds[started++]}/refund`, body: "", key: randomUUID() }),
  };
}
