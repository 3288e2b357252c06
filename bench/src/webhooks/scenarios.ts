import { say } from "../table.ts";
import { cpuInAll, type Flow, flow, percentile } from "./flow.ts";
import type { Business, Stage } from "./stage.ts";

export interface WebhooksOptions {
  readonly seconds: number;
  /** Tries everything in seconds; its figures mean nothing. */
  readonly quick: boolean;
  /** How many old deliveries there are, at the most. */
  readonly rows: number;
  /** For how many seconds a transaction is held open. */
  readonly held: number;
}

/** One of the figures to reach, and what it came to. */
export interface Figure {
  readonly measure: string;
  readonly goal: string;
  readonly seen: string;
}

export interface Outcome {
  readonly flows: readonly Flow[];
  readonly figures: readonly Figure[];
}

export type Scenario = (stage: Stage, options: WebhooksOptions) => Promise<Outcome>;

/** A figure that is a ratio. */
export const compare = (measure: string, goal: string, before: number, after: number): Figure => ({
  measure,
  goal,
  seen: `${(after / before).toFixed(2)} times (${before.toFixed(1)} → ${after.toFixed(1)} ms)`,
});

const percentiles = ({ delaysMs }: Flow) =>
  `${percentile(delaysMs, 0.5).toFixed(1)} / ${percentile(delaysMs, 0.95).toFixed(1)} ms`;

/** In how many requests' processor time of the bare server one delivery is paid. */
const cpuInBare = (found: Flow, { bare }: Stage) => ((cpuInAll(found) * 1000) / bare.cpuUs).toFixed(1);

/** Commit to arrival with one endpoint, at fixed rates. */
export const rates: Scenario = async (stage, { seconds, quick }) => {
  const business = await stage.addBusiness(1);
  const flows: Flow[] = [];
  for (const perSecond of quick ? [50, 200] : [50, 200, 500, 1_000]) {
    flows.push(await flow(stage, { name: `one endpoint, ${perSecond}/s`, businesses: [business], perSecond, seconds }));
  }
  const at = (perSecond: number) => flows.find((each) => each.perSecond === perSecond);
  const [at200, at1000] = [at(200), at(1_000)];
  const figures: Figure[] = [];
  if (at200) {
    const goal = "≤ 8 / ≤ 20 ms at 2 600 bare requests/s";
    figures.push(
      { measure: "commit → arrival at 200/s, p50 / p95", goal, seen: percentiles(at200) },
      { measure: "CPU per delivery at 200/s, in bare reads'", goal: "≤ 16", seen: cpuInBare(at200, stage) },
    );
  }
  if (at1000) {
    const kept = isKeptUp(at1000) ? "" : `, falls behind: ${Math.round(at1000.deliveredPerSecond)}/s`;
    const seen = `${percentile(at1000.delaysMs, 0.95).toFixed(1)} ms${kept}`;
    figures.push({ measure: "the same at 1 000/s, p95", goal: "≤ 100 ms", seen });
  }
  return { flows, figures };
};

/** The highest rate that is kept up with one endpoint, and with ten for each event. */
export const sustained: Scenario = async (stage, options) => {
  const one = await highestRate(stage, { name: "sustained, one endpoint", businesses: [await stage.addBusiness(1)] }, options);
  const ten = await highestRate(stage, { name: "sustained, fan-out 10", businesses: [await stage.addBusiness(10)] }, options);
  const rate = (found: Flow) => {
    const perSecond = Math.round(found.deliveredPerSecond);
    return `${(perSecond / stage.bare.perSecond).toFixed(2)} (${perSecond}/s)${isKeptUp(found) ? "" : ", not kept up"}`;
  };
  const figures = [
    { measure: "sustained for 20 s, one endpoint, deliveries per bare request", goal: "≥ 0.7", seen: rate(one) },
    { measure: "sustained for 20 s, fan-out 10", goal: "≥ 1.4", seen: rate(ten) },
    { measure: "CPU per delivery at that rate, one endpoint, in bare reads'", goal: "≤ 4", seen: cpuInBare(one, stage) },
    { measure: "CPU per delivery at that rate, fan-out 10", goal: "≤ 1.7", seen: cpuInBare(ten, stage) },
  ];
  return { flows: [one, ten], figures };
};

/** Everything arrived, at most a second after it was asked for. */
const isKeptUp = ({ lost, drainMs }: Flow) => lost === 0 && drainMs <= 1_000;

const trialSeconds = 6;
const sustainedSeconds = 20;
const closeEnough = 1.15;
const confirmationsMax = 4;

/** Doubles the rate until it is too much, halves the way back, then keeps it up for 20 s. */
async function highestRate(
  stage: Stage,
  what: { readonly name: string; readonly businesses: readonly Business[] },
  { quick }: WebhooksOptions,
): Promise<Flow> {
  const run = (perSecond: number, seconds: number) => flow(stage, { ...what, perSecond, seconds });
  let rate = 50;
  let tooMuch = Number.POSITIVE_INFINITY;
  if (quick) return await run(rate, 1);
  while (tooMuch / rate > closeEnough) {
    const next = Math.round(tooMuch === Number.POSITIVE_INFINITY ? rate * 2 : (rate + tooMuch) / 2);
    if (isKeptUp(await run(next, trialSeconds))) rate = next;
    else tooMuch = next;
  }
  for (let confirmations = 1; ; confirmations++) {
    say(`${what.name}: ${rate} events/s for ${sustainedSeconds} s`);
    const found = await run(rate, sustainedSeconds);
    if (isKeptUp(found) || confirmations === confirmationsMax) return found;
    rate = Math.round(rate * 0.9);
  }
}
