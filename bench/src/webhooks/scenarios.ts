import { log } from "../table.ts";
import { cpuTotal, type Flow, measureFlow, percentile } from "./flow.ts";
import type { Business, WebhooksSystem } from "./webhooks-system.ts";

export interface WebhooksOptions {
  readonly seconds: number;
  /** Runs each scenario for a few seconds. The figures are then not reliable. */
  readonly quick: boolean;
  /** Number of old deliveries. */
  readonly rows: number;
  /** Seconds for which a transaction is kept open. */
  readonly held: number;
}

/** A measured figure and its goal. */
export interface Figure {
  readonly measure: string;
  readonly goal: string;
  readonly result: string;
}

export interface Outcome {
  readonly flows: readonly Flow[];
  readonly figures: readonly Figure[];
}

export type Scenario = (webhooksSystem: WebhooksSystem, options: WebhooksOptions) => Promise<Outcome>;

/** Returns a figure for the ratio of two durations. */
export const compare = (measure: string, goal: string, before: number, after: number): Figure => ({
  measure,
  goal,
  result: `${(after / before).toFixed(2)} times (${before.toFixed(1)} → ${after.toFixed(1)} ms)`,
});

const formatPercentiles = ({ delaysMs }: Flow) =>
  `${percentile(delaysMs, 0.5).toFixed(1)} / ${percentile(delaysMs, 0.95).toFixed(1)} ms`;

/** Returns a delivery's CPU time divided by the CPU time of a request to the bare server. */
const cpuInBareRequests = (measured: Flow, { bare }: WebhooksSystem) => ((cpuTotal(measured) * 1000) / bare.cpuUs).toFixed(1);

/** Measures the delay from commit to arrival with one endpoint at fixed rates. */
export const rates: Scenario = async (webhooksSystem, { seconds, quick }) => {
  const business = await webhooksSystem.addBusiness(1);
  const flows: Flow[] = [];
  for (const perSecond of quick ? [50, 200] : [50, 200, 500, 1_000]) {
    flows.push(
      await measureFlow(webhooksSystem, { name: `one endpoint, ${perSecond}/s`, businesses: [business], perSecond, seconds }),
    );
  }
  const flowAt = (perSecond: number) => flows.find((candidate) => candidate.perSecond === perSecond);
  const [at200, at1000] = [flowAt(200), flowAt(1_000)];
  const figures: Figure[] = [];
  if (at200) {
    const goal = "≤ 8 / ≤ 20 ms at 2 600 bare requests/s";
    figures.push(
      { measure: "commit → arrival at 200/s, p50 / p95", goal, result: formatPercentiles(at200) },
      { measure: "CPU per delivery at 200/s, in bare requests", goal: "≤ 16", result: cpuInBareRequests(at200, webhooksSystem) },
    );
  }
  if (at1000) {
    const suffix = isSustained(at1000) ? "" : `, rate not sustained: ${Math.round(at1000.deliveredPerSecond)}/s`;
    const result = `${percentile(at1000.delaysMs, 0.95).toFixed(1)} ms${suffix}`;
    figures.push({ measure: "commit → arrival at 1 000/s, p95", goal: "≤ 100 ms", result });
  }
  return { flows, figures };
};

/** Measures the highest sustained rate if each event has one endpoint, and if it has ten. */
export const sustained: Scenario = async (webhooksSystem, options) => {
  const rateOfOneEndpoint = await findHighestRate(
    webhooksSystem,
    { name: "sustained, one endpoint", businesses: [await webhooksSystem.addBusiness(1)] },
    options,
  );
  const fanOut = await findHighestRate(
    webhooksSystem,
    { name: "sustained, fan-out 10", businesses: [await webhooksSystem.addBusiness(10)] },
    options,
  );
  const formatRate = (measured: Flow) => {
    const perSecond = Math.round(measured.deliveredPerSecond);
    return `${(perSecond / webhooksSystem.bare.perSecond).toFixed(2)} (${perSecond}/s)${isSustained(measured) ? "" : ", not sustained"}`;
  };
  const figures = [
    {
      measure: "sustained for 20 s, one endpoint, deliveries per bare request",
      goal: "≥ 0.7",
      result: formatRate(rateOfOneEndpoint),
    },
    { measure: "sustained for 20 s, fan-out 10", goal: "≥ 1.4", result: formatRate(fanOut) },
    {
      measure: "CPU per delivery at that rate, one endpoint, in bare requests",
      goal: "≤ 4",
      result: cpuInBareRequests(rateOfOneEndpoint, webhooksSystem),
    },
    { measure: "CPU per delivery at that rate, fan-out 10", goal: "≤ 1.7", result: cpuInBareRequests(fanOut, webhooksSystem) },
  ];
  return { flows: [rateOfOneEndpoint, fanOut], figures };
};

/** Returns true if all events were delivered within one second after the last commit. */
const isSustained = ({ lost, drainMs }: Flow) => lost === 0 && drainMs <= 1_000;

const trialSeconds = 6;
const sustainedSeconds = 20;
/**
 * The search ends when the ratio of the lowest failed rate to the highest sustained rate is below
 * this value.
 */
const rateRatioMax = 1.15;
const confirmationsMax = 4;

/**
 * Finds the highest sustained rate. Doubles the rate until it fails, bisects, and then confirms the
 * highest sustained rate in a run of 20 s.
 */
async function findHighestRate(
  webhooksSystem: WebhooksSystem,
  options: { readonly name: string; readonly businesses: readonly Business[] },
  { quick }: WebhooksOptions,
): Promise<Flow> {
  const run = (perSecond: number, seconds: number) => measureFlow(webhooksSystem, { ...options, perSecond, seconds });
  let rate = 50;
  let tooHigh = Number.POSITIVE_INFINITY;
  if (quick) return await run(rate, 1);
  while (tooHigh / rate > rateRatioMax) {
    const nextRate = Math.round(tooHigh === Number.POSITIVE_INFINITY ? rate * 2 : (rate + tooHigh) / 2);
    if (isSustained(await run(nextRate, trialSeconds))) rate = nextRate;
    else tooHigh = nextRate;
  }
  for (let confirmations = 1; ; confirmations++) {
    log(`${options.name}: ${rate} events/s for ${sustainedSeconds} s`);
    const measured = await run(rate, sustainedSeconds);
    if (isSustained(measured) || confirmations === confirmationsMax) return measured;
    rate = Math.round(rate * 0.9);
  }
}
