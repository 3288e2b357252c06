import pg from "pg";
import { log } from "../table.ts";
import { fillDeliveries } from "./fill.ts";
import { type Flow, measureFlow, percentile } from "./flow.ts";
import { compare, type Scenario } from "./scenarios.ts";
import type { WebhooksSystem } from "./webhooks-system.ts";

const perSecond = 200;
const p95 = ({ delaysMs }: Flow) => percentile(delaysMs, 0.95);

/** Compares the delays with few and with very many old deliveries in the database. */
export const oldDeliveries: Scenario = async (webhooksSystem, { seconds, rows, quick }) => {
  const business = await webhooksSystem.addBusiness(1);
  const oldBusiness = await webhooksSystem.addBusiness(10);
  const few = Math.min(10_000, rows / 10);
  const flows: Flow[] = [];
  for (const [deliveries, existing] of [
    [few, 0],
    [rows, few],
  ] as const) {
    log(`${deliveries} old deliveries: inserting them`);
    await fillDeliveries(webhooksSystem.system, oldBusiness, { status: "SUCCEEDED", deliveries: deliveries - existing, run: 0 });
    const name = `${perSecond}/s beside ${deliveries} old deliveries`;
    flows.push(await measureFlow(webhooksSystem, { name, businesses: [business], perSecond, seconds: quick ? 1 : seconds }));
  }
  const [small, large] = flows.map(p95) as [number, number];
  return { flows, figures: [compare(`p95 with ${rows} old deliveries against ${few}`, "< 1.2 times", small, large)] };
};

/** Measures the effect of an open transaction, which prevents the removal of deleted rows. */
export const heldTransaction: Scenario = async (webhooksSystem, { seconds, held: heldSeconds, quick }) => {
  const businesses = [await webhooksSystem.addBusiness(1)];
  const run = (name: string, forSeconds: number) =>
    measureFlow(webhooksSystem, { name, businesses, perSecond, seconds: forSeconds });
  const measuredSeconds = quick ? 1 : seconds;
  const before = await run(`${perSecond}/s, no transaction held`, measuredSeconds);
  const transactions = [await openTransaction(webhooksSystem, "payments"), await openTransaction(webhooksSystem, "webhooks")];
  const duringHold = await run(`${perSecond}/s, transactions held open`, Math.max(1, heldSeconds - measuredSeconds));
  const after = await run(`${perSecond}/s, held for ${heldSeconds} s`, measuredSeconds);
  for (const transaction of transactions) await transaction.end();
  const measure = `p95 after a transaction was held open for ${heldSeconds} s`;
  return { flows: [before, duringHold, after], figures: [compare(measure, "< 1.5 times", p95(before), p95(after))] };
};

async function openTransaction({ system }: WebhooksSystem, database: "payments" | "webhooks"): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: system.databaseUrls[database] });
  await client.connect();
  await client.query("begin isolation level repeatable read");
  await client.query("select count(*) from pg_class");
  return client;
}

/** Compares the duration of commits with and without a second producer that has a high rate. */
export const concurrentCommits: Scenario = async (webhooksSystem, { seconds, quick }) => {
  const businesses = [await webhooksSystem.addBusiness(1)];
  const otherEvents = { businesses: [await webhooksSystem.addBusiness(1)], perSecond: quick ? 50 : 1_000 };
  const few = { businesses, perSecond: 50, seconds: quick ? 1 : seconds };
  const alone = await measureFlow(webhooksSystem, { ...few, name: "commits at 50/s" });
  const withOtherEvents = await measureFlow(webhooksSystem, {
    ...few,
    otherEvents,
    name: `commits at 50/s beside ${otherEvents.perSecond} events/s`,
  });
  const [before, after] = [alone, withOtherEvents].map(({ commitsMs }) => percentile(commitsMs, 0.95)) as [number, number];
  const measure = `p95 of commits beside ${otherEvents.perSecond} events/s`;
  return { flows: [alone, withOtherEvents], figures: [compare(measure, "≤ 1.2 times", before, after)] };
};
