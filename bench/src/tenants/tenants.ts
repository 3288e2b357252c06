import { lockRow, namedQuery, transaction } from "@amana/database";
import { forTenant } from "@amana/runtime";
import { clientList, clientView } from "../../../services/clients/src/client/client.message.ts";
import { Client } from "../../../services/clients/src/client/client.ts";
import { figuresBelow } from "../process-figures.ts";
import { median, printTable, say } from "../table.ts";
import { deliveries } from "./deliveries.ts";
import { fillClients, large, manyOf, small } from "./fill.ts";
import { type Side, type Stage, setStage, sides } from "./stage.ts";

/** Does something that many times for businesses in turn. */
export type Operation = (side: Side, times: number) => Promise<void>;

/**
 * What row-level security costs: processor time of PostgreSQL and of this process for each of a few
 * operations (those that begin with one of `names`, or all), with policies and without, in turns in one run. Neither gateway nor calls between
 * services stand between, so that a difference is seen; deliveries are whole.
 */
export async function tenants({ rounds, seconds, names }: { rounds: number; seconds: number; names: readonly string[] }) {
  await using stack = new AsyncDisposableStack();
  const stage = await setStage(stack);
  for (const side of sides) {
    say(`filling, ${side} policies`);
    await fillClients(stage[side].clients.owner);
  }
  const operations: Record<string, Operation> = { ...ofClients(stage), ...(await deliveries(stage, stack)) };

  const rows = [];
  for (const [name, operation] of Object.entries(operations)) {
    if (names.length > 0 && !names.some((each) => name.startsWith(each))) continue;
    const timesEach = await timesIn(operation, seconds);
    const used: Record<Side, number[]> = { without: [], with: [] };
    for (let round = 0; round < rounds; round++) {
      // Each comes first as often as the other.
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) used[side].push(await cpuUs(operation, side, timesEach));
    }
    const ratios = used.with.map((us, round) => us / (used.without[round] ?? Number.NaN));
    const [without, with_] = [median(used.without), median(used.with)];
    rows.push({
      operation: name,
      "without µs": Math.round(without),
      "with µs": Math.round(with_),
      times: median(ratios).toFixed(2),
      "least and most": `${Math.min(...ratios).toFixed(2)} – ${Math.max(...ratios).toFixed(2)}`,
      "operations each": timesEach,
    });
    say(`${name}: ${without.toFixed(0)} and ${with_.toFixed(0)} µs, ${median(ratios).toFixed(2)} times`);
  }
  printTable(rows);
  return rows;
}

/** How often it is done in that time, when it is warm. */
async function timesIn(operation: Operation, seconds: number): Promise<number> {
  let perSecond = 0;
  for (const side of sides) {
    for (let times = 20, took = 0; took < 500; times *= 2) {
      const startMs = performance.now();
      await operation(side, times);
      took = performance.now() - startMs;
      perSecond = (1000 * times) / took;
    }
  }
  return Math.max(20, Math.round(perSecond * seconds));
}

/** Processor time for each, in microseconds. */
async function cpuUs(operation: Operation, side: Side, times: number): Promise<number> {
  const before = { own: process.cpuUsage(), database: databaseSeconds() };
  await operation(side, times);
  const { user, system } = process.cpuUsage(before.own);
  return (user + system + (databaseSeconds() - before.database) * 1e6) / times;
}

const databaseSeconds = () => figuresBelow(process.pid)["postgres"]?.cpuSeconds ?? Number.NaN;

function ofClients(stage: Stage): Record<string, Operation> {
  /** One after the other, each for the next business. */
  const inTurn =
    (work: (service: Stage[Side]["clients"]["service"], businessId: string, i: number) => Promise<unknown>): Operation =>
    async (side, times) => {
      const { service } = stage[side].clients;
      for (let i = 0; i < times; i++) {
        const businessId = small[i % small.length] ?? "";
        await forTenant(businessId, () => work(service, businessId, i));
      }
    };
  const list = (businessId: string | undefined, request: (i: number) => object) =>
    inTurn(({ context }, small, i) => {
      const owner = businessId ?? small;
      const page = { limit: 50, offset: 0, ...request(i) } as Parameters<typeof clientList.page>[2];
      return forTenant(owner, () => clientList.page(context.orm.em, owner, page));
    });
  return {
    "read one": inTurn(({ context }, businessId, i) => clientView.read(context.orm.em, businessId, manyOf(businessId, i))),
    "a page of 50, with how many there are": list(undefined, () => ({})),
    "count 1 000": inTurn(({ context }, businessId) =>
      namedQuery(context.orm.em, "bench_count", "select count(*) from client where business_id = $1 and city <> $2", [
        businessId,
        "Oran",
      ]),
    ),
    "find one of 1 000 by its address": list(undefined, (i) => ({ email: `person${i % 1_000}@example.dz` })),
    "search one of 1 000": list(undefined, (i) => ({ search: `person${i % 1_000}@` })),
    "search one of 100 000": list(large, (i) => ({ search: `person${(i * 7919) % 100_000}@` })),
    "search a name that a tenth of 100 000 have": list(large, () => ({ search: "benali" })),
    "command: lock, change, commit": inTurn(({ context }, businessId, i) =>
      transaction(context.orm, async (em) => {
        const client = await lockRow(em, Client, businessId, manyOf(businessId, i), () => new Error("not there"));
        client.change({ city: `City ${i}` } as Parameters<Client["change"]>[0], new Date());
      }),
    ),
  };
}
