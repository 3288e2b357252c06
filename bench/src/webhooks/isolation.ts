import { sleep } from "@amana/runtime";
import { fillDeliveries } from "./fill.ts";
import { type Flow, type FlowOptions, measureFlow, percentile } from "./flow.ts";
import { compare, type Outcome, type Scenario } from "./scenarios.ts";
import type { Business, WebhooksSystem } from "./webhooks-system.ts";

const goal = "< 1.2 times";
/** Longer than the timeout of an attempt at a hanging endpoint. */
const hangingSeconds = 20;

/** Measures a flow before and after a change to other endpoints. Compares the two p95 delays. */
async function measureBeforeAndAfter(
  webhooksSystem: WebhooksSystem,
  measure: string,
  options: Omit<FlowOptions, "name">,
  makeChange: () => Promise<Pick<FlowOptions, "otherEvents">>,
): Promise<Outcome> {
  const before = await measureFlow(webhooksSystem, { ...options, name: `${measure}: without` });
  const changedOptions = await makeChange();
  const after = await measureFlow(webhooksSystem, { ...options, ...changedOptions, shared: true, name: `${measure}: with` });
  const p95 = ({ delaysMs }: Flow) => percentile(delaysMs, 0.95);
  return { flows: [before, after], figures: [compare(`p95 of the other endpoints: ${measure}`, goal, p95(before), p95(after))] };
}

/** Measures a business with ten endpoints. One of the endpoints hangs. */
export const oneHangingEndpoint: Scenario = async (webhooksSystem, { seconds, quick }) => {
  const business = await webhooksSystem.addBusiness(10);
  const excludedEndpoints = business.endpoints.slice(0, 1);
  const options = {
    businesses: [business],
    perSecond: quick ? 5 : 50,
    seconds: quick ? seconds : hangingSeconds,
    excludedEndpoints,
  };
  return await measureBeforeAndAfter(webhooksSystem, "one hanging of ten, 50/s each", options, async () => {
    await webhooksSystem.receivers.request({ hang: excludedEndpoints });
    return {};
  });
};

/** Measures four businesses with ten endpoints each. Half of the endpoints hang. */
export const manyHangingEndpoints: Scenario = async (webhooksSystem, { seconds, quick }) => {
  const businesses: Business[] = [];
  for (let i = 0; i < 4; i++) businesses.push(await webhooksSystem.addBusiness(10));
  const excludedEndpoints = businesses.flatMap(({ endpoints }) => endpoints.slice(0, 5));
  const options = { businesses, perSecond: quick ? 5 : 200, seconds: quick ? seconds : hangingSeconds, excludedEndpoints };
  return await measureBeforeAndAfter(webhooksSystem, "twenty hanging of forty, 50/s each", options, async () => {
    await webhooksSystem.receivers.request({ hang: excludedEndpoints });
    return {};
  });
};

/** Measures one business while a hundred other businesses each have ten dead endpoints. */
export const deadEndpoints: Scenario = async (webhooksSystem, { seconds, quick }) => {
  const liveBusiness = await webhooksSystem.addBusiness(1);
  const businesses: Business[] = [];
  for (let i = 0; i < (quick ? 2 : 100); i++) {
    businesses.push(
      await webhooksSystem.addDeadBusiness(Array.from({ length: 10 }, (_, j) => `http://127.1.${i}.${j + 1}:9/amana`)),
    );
  }
  const options = { businesses: [liveBusiness], perSecond: 50, seconds: quick ? seconds : hangingSeconds };
  return await measureBeforeAndAfter(webhooksSystem, "1 000 dead endpoints beside a live one", options, async () => {
    const businessIds = businesses.map(({ id }) => id);
    await webhooksSystem.secondProducer.request({ run: 0, businessIds, perSecond: businessIds.length, seconds: 1 });
    await sleep(quick ? 0 : 5_000);
    return { otherEvents: { businesses, perSecond: businesses.length / 5 } };
  });
};

/** Measures one business while another business has a backlog of due deliveries. */
export const backlog: Scenario = async (webhooksSystem, { seconds, rows, quick }) => {
  const business = await webhooksSystem.addBusiness(1);
  const backlogBusiness = await webhooksSystem.addBusiness(1);
  const options = { businesses: [business], perSecond: 50, seconds: quick ? seconds : hangingSeconds };
  const deliveries = Math.min(rows, 100_000);
  return await measureBeforeAndAfter(webhooksSystem, `${deliveries} due for another business`, options, async () => {
    await fillDeliveries(webhooksSystem.system, backlogBusiness, { status: "PENDING", deliveries, run: 0 });
    // The webhooks service finds the inserted deliveries at a poll or when another delivery is due.
    for (let i = 0; i < 600; i++) {
      if ((await webhooksSystem.receivers.request({ arrivalsOfRun: 0 })).arrivals.length > 0) break;
      await sleep(25);
    }
    return {};
  });
};
