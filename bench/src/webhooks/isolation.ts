import { sleep } from "@amana/runtime";
import { fill } from "./fill.ts";
import { type Flow, type FlowOptions, flow, percentile } from "./flow.ts";
import { compare, type Outcome, type Scenario } from "./scenarios.ts";
import type { Business, Stage } from "./stage.ts";

const goal = "< 1.2 times";
/** Longer than it takes until an attempt at an endpoint that hangs is given up. */
const hangingSeconds = 20;

/** What became of the same events before and after something happened to others. */
async function twice(
  stage: Stage,
  measure: string,
  options: Omit<FlowOptions, "name">,
  happen: () => Promise<Pick<FlowOptions, "beside">>,
): Promise<Outcome> {
  const before = await flow(stage, { ...options, name: `${measure}: without` });
  const changed = await happen();
  const after = await flow(stage, { ...options, ...changed, shared: true, name: `${measure}: with` });
  const p95 = ({ delaysMs }: Flow) => percentile(delaysMs, 0.95);
  return { flows: [before, after], figures: [compare(`others' p95: ${measure}`, goal, p95(before), p95(after))] };
}

/** A business with ten endpoints, of which one hangs. */
export const oneHanging: Scenario = async (stage, { seconds, quick }) => {
  const business = await stage.addBusiness(10);
  const leftOut = business.endpoints.slice(0, 1);
  const options = { businesses: [business], perSecond: quick ? 5 : 50, seconds: quick ? seconds : hangingSeconds, leftOut };
  return await twice(stage, "one hanging of ten, 50/s each", options, async () => {
    await stage.receivers.ask({ hang: leftOut });
    return {};
  });
};

/** Four businesses with ten endpoints each, of which half hang. */
export const manyHanging: Scenario = async (stage, { seconds, quick }) => {
  const businesses: Business[] = [];
  for (let i = 0; i < 4; i++) businesses.push(await stage.addBusiness(10));
  const leftOut = businesses.flatMap(({ endpoints }) => endpoints.slice(0, 5));
  const options = { businesses, perSecond: quick ? 5 : 200, seconds: quick ? seconds : hangingSeconds, leftOut };
  return await twice(stage, "twenty hanging of forty, 50/s each", options, async () => {
    await stage.receivers.ask({ hang: leftOut });
    return {};
  });
};

/** A hundred businesses whose ten endpoints each refuse every connection. */
export const dead: Scenario = async (stage, { seconds, quick }) => {
  const living = await stage.addBusiness(1);
  const businesses: Business[] = [];
  for (let i = 0; i < (quick ? 2 : 100); i++) {
    businesses.push(await stage.addDeadBusiness(Array.from({ length: 10 }, (_, j) => `http://127.1.${i}.${j + 1}:9/amana`)));
  }
  const options = { businesses: [living], perSecond: 50, seconds: quick ? seconds : hangingSeconds };
  return await twice(stage, "1 000 dead endpoints beside a live one", options, async () => {
    const businessIds = businesses.map(({ id }) => id);
    await stage.beside.ask({ run: 0, businessIds, perSecond: businessIds.length, seconds: 1 });
    await sleep(quick ? 0 : 5_000);
    return { beside: { businesses, perSecond: businesses.length / 5 } };
  });
};

/** Very many due deliveries of one business beside few of another. */
export const backlog: Scenario = async (stage, { seconds, rows, quick }) => {
  const business = await stage.addBusiness(1);
  const crowded = await stage.addBusiness(1);
  const options = { businesses: [business], perSecond: 50, seconds: quick ? seconds : hangingSeconds };
  const deliveries = Math.min(rows, 100_000);
  return await twice(stage, `${deliveries} due for another business`, options, async () => {
    await fill(stage.system, crowded, { status: "PENDING", deliveries, run: 0 });
    // They are found by looking, or when something else comes due.
    for (let i = 0; i < 600; i++) {
      if ((await stage.receivers.ask({ arrivedOf: 0 })).arrivals.length > 0) break;
      await sleep(25);
    }
    return {};
  });
};
