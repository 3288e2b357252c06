import pg from "pg";
import { say } from "../table.ts";
import { fill } from "./fill.ts";
import { type Flow, flow, percentile } from "./flow.ts";
import { compare, type Scenario } from "./scenarios.ts";
import type { Stage } from "./stage.ts";

const perSecond = 200;
const p95 = ({ delaysMs }: Flow) => percentile(delaysMs, 0.95);

/** Few and very many deliveries of the past. */
export const old: Scenario = async (stage, { seconds, rows, quick }) => {
  const business = await stage.addBusiness(1);
  const past = await stage.addBusiness(10);
  const few = Math.min(10_000, rows / 10);
  const flows: Flow[] = [];
  for (const [deliveries, before] of [
    [few, 0],
    [rows, few],
  ] as const) {
    say(`${deliveries} old deliveries: filling`);
    await fill(stage.system, past, { status: "SUCCEEDED", deliveries: deliveries - before, run: 0 });
    const name = `${perSecond}/s beside ${deliveries} old deliveries`;
    flows.push(await flow(stage, { name, businesses: [business], perSecond, seconds: quick ? 1 : seconds }));
  }
  const [small, large] = flows.map(p95) as [number, number];
  return { flows, figures: [compare(`p95 with ${rows} old deliveries against ${few}`, "< 1.2 times", small, large)] };
};

/** A transaction that sees the databases as they were keeps every row that was deleted since. */
export const held: Scenario = async (stage, { seconds, held: heldSeconds, quick }) => {
  const businesses = [await stage.addBusiness(1)];
  const run = (name: string, forSeconds: number) => flow(stage, { name, businesses, perSecond, seconds: forSeconds });
  const measuredSeconds = quick ? 1 : seconds;
  const before = await run(`${perSecond}/s, no transaction held`, measuredSeconds);
  const transactions = [await hold(stage, "payments"), await hold(stage, "webhooks")];
  const first = await run(`${perSecond}/s, transactions held from now on`, Math.max(1, heldSeconds - measuredSeconds));
  const after = await run(`${perSecond}/s, held for ${heldSeconds} s`, measuredSeconds);
  for (const transaction of transactions) await transaction.end();
  const measure = `p95 after a transaction was held open for ${heldSeconds} s`;
  return { flows: [before, first, after], figures: [compare(measure, "< 1.5 times", p95(before), p95(after))] };
};

async function hold({ system }: Stage, database: "payments" | "webhooks"): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: system.databaseUrls[database] });
  await client.connect();
  await client.query("begin isolation level repeatable read");
  await client.query("select count(*) from pg_class");
  return client;
}

/** How long commits take by themselves, and while many events flow by another replica. */
export const commits: Scenario = async (stage, { seconds, quick }) => {
  const businesses = [await stage.addBusiness(1)];
  const beside = { businesses: [await stage.addBusiness(1)], perSecond: quick ? 50 : 1_000 };
  const few = { businesses, perSecond: 50, seconds: quick ? 1 : seconds };
  const alone = await flow(stage, { ...few, name: "commits at 50/s" });
  const among = await flow(stage, { ...few, beside, name: `commits at 50/s while ${beside.perSecond} events/s flow` });
  const [before, after] = [alone, among].map(({ commitsMs }) => percentile(commitsMs, 0.95)) as [number, number];
  const measure = `business commits while ${beside.perSecond} events/s flow, against none, p95`;
  return { flows: [alone, among], figures: [compare(measure, "≤ 1.2 times", before, after)] };
};
