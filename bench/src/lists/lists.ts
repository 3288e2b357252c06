import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProgress } from "@amana/dev-env/progress";
import { startSystem } from "@amana/dev-env/system";
import { request } from "undici";
import { printTable, say } from "../table.ts";
import { fill } from "./fill.ts";

const sizes = [10_000, 1_000_000];
const perRound = 100;

/** Every filter of the two long lists, and searches from very common to not there at all. */
const queries: readonly [name: string, path: (n: number) => string][] = [
  ["clients, first page", () => "clients"],
  ["clients, offset 10 000", () => "clients?offset=10000"],
  ["clients, common status", () => "clients?kyc_status=VALIDATED"],
  ["clients, rare status", () => "clients?kyc_status=DECLINED"],
  ["clients, status and risk", () => "clients?kyc_status=NOT_STARTED&risk_level=High"],
  ["clients, rare risk", () => "clients?risk_level=High"],
  ["clients, blocked", () => "clients?blocked=true"],
  ["clients, blacklisted", () => "clients?is_blacklisted=true"],
  ["clients, blocked, offset 1 000", () => "clients?blocked=true&offset=1000"],
  ["clients, e-mail", (n) => `clients?email=person${n * 100}%40example.dz`],
  ["clients, external code", (n) => `clients?external_client_code=code-${n * 100}`],
  ["clients, search a common name", () => "clients?search=benali"],
  ["clients, search one in hundreds", (n) => `clients?search=${(n % 4096).toString(16).padStart(3, "e")}%20h`],
  ["clients, search one e-mail", (n) => `clients?search=person${n * 100}%40`],
  ["clients, search two letters", () => "clients?search=zi"],
  ["clients, search two letters that are nowhere", () => "clients?search=qz"],
  ["clients, search nothing there", (n) => `clients?search=nobody${n}`],
  ["clients, search Arabic", () => "clients?search=%D8%A3%D9%85%D9%8A%D9%86%D8%A9"],
  ["beneficiaries, first page", () => "beneficiaries"],
  ["beneficiaries, offset 10 000", () => "beneficiaries?offset=10000"],
  ["beneficiaries, companies", () => "beneficiaries?beneficiary_type=COMPANY"],
  ["beneficiaries, rare country", () => "beneficiaries?country_code=TUN"],
  ["beneficiaries, hidden", () => "beneficiaries?display=false"],
  ["beneficiaries, hidden companies of a country", () => "beneficiaries?display=false&beneficiary_type=COMPANY&country_code=FRA"],
  ["beneficiaries, search a common name", () => "beneficiaries?search=haddad"],
  ["beneficiaries, search one name", (n) => `beneficiaries?search=amina%20${(n * 100).toString(16)}`],
  ["beneficiaries, search part of an IBAN", (n) => `beneficiaries?search=${String(n * 100 * 7919).padStart(12, "0")}`],
  ["beneficiaries, search nothing there", (n) => `beneficiaries?search=nobody${n}`],
];

/**
 * The largest business's lists through the API, with 10 000 clients and beneficiaries in all (2 000
 * of them its own) and with a million of each (200 000). One request at a time: what is told apart
 * is the work behind a page, not the load.
 */
export async function lists({ rounds }: { rounds: number; seconds: number }) {
  const dir = await mkdtemp(join(tmpdir(), "amana-bench-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const system = stack.use(
    await startSystem({
      dir,
      events: "direct",
      progress: createProgress(),
      env: {
        gateway: { RATE_LIMIT_PER_SECOND: "0", RATE_LIMIT_SEARCH_PER_SECOND: "0", LOG_LEVEL: "warn" },
        clients: { LOG_LEVEL: "warn" },
      },
    }),
  );
  const headers = { authorization: `Bearer ${system.business.api_key}` };
  const measured = new Map<string, { p50: number; p99: number; total: string }[]>();
  for (const size of sizes) {
    say(`${size} clients and beneficiaries: filling`);
    await fill(system.ownerDatabaseUrls["clients"] ?? "", system.business.id, size);
    for (const [name, path] of queries) {
      const tookMs: number[] = [];
      let total = "";
      for (let n = -10; n < perRound * rounds; n++) {
        const startMs = performance.now();
        const answer = await request(`${system.gatewayUrl}/api/v1/${path(Math.abs(n))}`, { headers });
        await answer.body.dump();
        if (answer.statusCode !== 200) throw new Error(`${path(n)}: ${answer.statusCode}`);
        // The first ten prepare statements and warm caches.
        if (n >= 0) tookMs.push(performance.now() - startMs);
        total = String(answer.headers["x-total-count"]);
      }
      tookMs.sort((a, b) => a - b);
      const at = (share: number) => tookMs[Math.min(tookMs.length - 1, Math.floor(tookMs.length * share))] ?? 0;
      measured.set(name, [...(measured.get(name) ?? []), { p50: at(0.5), p99: at(0.99), total }]);
      say(`${size}: ${name}: median ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms, total ${total}`);
    }
  }
  const rows = [...measured].map(([list, [small, large]]) => ({
    list,
    "median ms, 10 000 rows": (small?.p50 ?? 0).toFixed(1),
    "p99 ms, 10 000 rows": (small?.p99 ?? 0).toFixed(1),
    "median ms, 1 000 000 rows": (large?.p50 ?? 0).toFixed(1),
    "p99 ms, 1 000 000 rows": (large?.p99 ?? 0).toFixed(1),
    ratio: ((large?.p99 ?? 0) / (small?.p99 ?? 1)).toFixed(1),
    "X-Total-Count": large?.total ?? "",
  }));
  printTable(rows);
  return rows;
}
