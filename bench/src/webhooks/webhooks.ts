import { cpus } from "node:os";
import { DevEnvError } from "@amana/dev-env/dev-env-error";
import { printTable } from "../table.ts";
import { cpuInAll, cpuNames, type Flow, flow, percentile } from "./flow.ts";
import { backlog, dead, manyHanging, oneHanging } from "./isolation.ts";
import { type Figure, rates, type Scenario, sustained, type WebhooksOptions } from "./scenarios.ts";
import { openStage, type Stage } from "./stage.ts";
import { commits, held, old } from "./stores.ts";

const scenarios: Readonly<Record<string, Scenario>> = {
  rates,
  sustained,
  commits,
  "one-hanging": oneHanging,
  "many-hanging": manyHanging,
  dead,
  backlog,
  old,
  held,
};

/**
 * From a business's commit to the arrival at its endpoint: a producer that commits events one by
 * one at a fixed rate, the event transport, webhooks, and receivers in their own process. Each
 * scenario has its own system, and measures the bare server of `bench reads` to be set beside it;
 * quick ones share a system.
 */
export async function webhooks(
  options: WebhooksOptions & { readonly names: readonly string[]; readonly events: "direct" | "kafka" },
) {
  const { names, events, quick } = options;
  const unknown = names.find((name) => !scenarios[name]);
  if (unknown) throw new DevEnvError(`There is no scenario ${unknown}.`, `Use one of ${Object.keys(scenarios).join(", ")}.`);
  const flows: Flow[] = [];
  const figures: Figure[] = [];
  const bares: Record<string, string | number>[] = [];
  const play = async (chosen: readonly string[]) => {
    await using stage = await openStage(events, quick ? 1 : 5);
    bares.push({
      scenario: chosen.join(", "),
      "bare requests/s": Math.round(stage.bare.perSecond),
      "CPU µs each": Math.round(stage.bare.cpuUs),
    });
    await warmUp(stage, quick);
    for (const name of chosen) {
      const outcome = await scenarios[name]?.(stage, options);
      flows.push(...(outcome?.flows ?? []));
      figures.push(...(outcome?.figures ?? []));
    }
  };
  const chosen = Object.keys(scenarios).filter((name) => names.length === 0 || names.includes(name));
  if (quick) await play(chosen);
  else for (const name of chosen) await play([name]);
  const peak = Math.max(...flows.map(({ peakMb }) => peakMb));
  figures.push({ measure: "webhooks' memory, at the most", goal: "< 250 MB", seen: `${Math.round(peak)} MB` });
  const delays = flows.map(delayRow);
  const costs = flows.filter(({ shared }) => !shared).map(costRow);
  const { length: processors, 0: processor } = cpus();
  process.stdout.write(
    `\n\`npx --yes pnpm@12 bench webhooks ${process.argv.slice(3).join(" ")}\`, events by ${events}, ` +
      `Node ${process.versions.node}, ${processors} processors (${processor?.model})\n`,
  );
  for (const table of [bares, delays, costs, figures]) printTable(table.map((row) => ({ ...row })));
  return { bares, delays, costs, figures };
}

/** The first statements are prepared, the code is compiled, the topics exist. */
async function warmUp(stage: Stage, quick: boolean): Promise<void> {
  const businesses = [await stage.addBusiness(1)];
  await flow(stage, { name: "warm-up", businesses, perSecond: 100, seconds: quick ? 0.5 : 5 });
}

const ms = (value: number) => value.toFixed(1);

/** How late deliveries were, and which were missing. */
function delayRow(found: Flow) {
  const { delaysMs, commitsMs } = found;
  return {
    run: found.name,
    "offered/s": Math.round(found.offeredPerSecond),
    "delivered/s": Math.round(found.deliveredPerSecond),
    "p50 ms": ms(percentile(delaysMs, 0.5)),
    "p95 ms": ms(percentile(delaysMs, 0.95)),
    "p99 ms": ms(percentile(delaysMs, 0.99)),
    "max ms": ms(delaysMs.at(-1) ?? 0),
    lost: found.lost,
    duplicated: found.duplicated,
    "commit p50 ms": ms(percentile(commitsMs, 0.5)),
    "commit p95 ms": ms(percentile(commitsMs, 0.95)),
    "webhooks' peak MB": Math.round(found.peakMb),
  };
}

/** What deliveries cost: CPU seconds for each 1000, and commits for each. */
function costRow(found: Flow) {
  return {
    run: found.name,
    "CPU s per 1000": cpuInAll(found).toFixed(2),
    ...Object.fromEntries(cpuNames.map((name) => [name, found.cpuSeconds[name].toFixed(2)])),
    "commits each, payments": found.commits.payments.toFixed(2),
    "commits each, webhooks": found.commits.webhooks.toFixed(2),
  };
}
