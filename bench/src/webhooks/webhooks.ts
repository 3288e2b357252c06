import { cpus } from "node:os";
import { DevEnvError } from "@amana/dev-env/dev-env-error";
import type { System } from "@amana/dev-env/system";
import { printTable } from "../table.ts";
import { cpuNames, cpuTotal, type Flow, measureFlow, percentile } from "./flow.ts";
import { backlog, deadEndpoints, manyHangingEndpoints, oneHangingEndpoint } from "./isolation.ts";
import { type Figure, rates, type Scenario, sustained, type WebhooksOptions } from "./scenarios.ts";
import { concurrentCommits, heldTransaction, oldDeliveries } from "./stores.ts";
import { startWebhooksSystem, type WebhooksSystem } from "./webhooks-system.ts";

const scenarios: Readonly<Record<string, Scenario>> = {
  rates,
  sustained,
  commits: concurrentCommits,
  "one-hanging": oneHangingEndpoint,
  "many-hanging": manyHangingEndpoints,
  dead: deadEndpoints,
  backlog,
  old: oldDeliveries,
  held: heldTransaction,
};

/**
 * Measures the delay and cost of deliveries, from the commit of an event to the arrival of its
 * webhook. The system has a producer with a fixed rate, the event transport, the webhooks service,
 * and receivers in their own process. Each scenario starts a new system and measures the bare
 * server of `bench reads` too. A quick run uses one system for all scenarios: `running` (default: a
 * new system).
 */
export async function measureWebhooks(
  options: WebhooksOptions & { readonly names: readonly string[]; readonly events: "direct" | "kafka" },
  running?: System,
) {
  const { names, events, quick } = options;
  const unknown = names.find((name) => !scenarios[name]);
  if (unknown) throw new DevEnvError(`Unknown scenario: ${unknown}.`, `Use one of ${Object.keys(scenarios).join(", ")}.`);
  const flows: Flow[] = [];
  const figures: Figure[] = [];
  const bareRows: Record<string, string | number>[] = [];
  const runScenarios = async (chosen: readonly string[]) => {
    await using webhooksSystem = await startWebhooksSystem(events, quick ? 1 : 5, quick ? running : undefined);
    bareRows.push({
      scenario: chosen.join(", "),
      "bare requests/s": Math.round(webhooksSystem.bare.perSecond),
      "CPU µs/request": Math.round(webhooksSystem.bare.cpuUs),
    });
    await warmUp(webhooksSystem, quick);
    for (const name of chosen) {
      const outcome = await scenarios[name]?.(webhooksSystem, options);
      flows.push(...(outcome?.flows ?? []));
      figures.push(...(outcome?.figures ?? []));
    }
  };
  const chosen = Object.keys(scenarios).filter((name) => names.length === 0 || names.includes(name));
  if (quick) await runScenarios(chosen);
  else for (const name of chosen) await runScenarios([name]);
  const peak = Math.max(...flows.map(({ peakMb }) => peakMb));
  figures.push({ measure: "peak memory of webhooks", goal: "< 250 MB", result: `${Math.round(peak)} MB` });
  const delays = flows.map(delayRow);
  const costs = flows.filter(({ shared }) => !shared).map(costRow);
  const { length: processors, 0: processor } = cpus();
  process.stdout.write(
    `\n\`npx --yes pnpm@12 bench webhooks ${process.argv.slice(3).join(" ")}\`, events by ${events}, ` +
      `Node ${process.versions.node}, ${processors} processors (${processor?.model})\n`,
  );
  for (const table of [bareRows, delays, costs, figures]) printTable(table.map((row) => ({ ...row })));
  return { bares: bareRows, delays, costs, figures };
}

/** Delivers some events, so that statements are prepared and topics exist before measurements. */
async function warmUp(webhooksSystem: WebhooksSystem, quick: boolean): Promise<void> {
  const businesses = [await webhooksSystem.addBusiness(1)];
  await measureFlow(webhooksSystem, { name: "warm-up", businesses, perSecond: 100, seconds: quick ? 0.5 : 5 });
}

const formatMs = (value: number) => value.toFixed(1);

/** Returns a table row with the delays, lost deliveries and duplicates of a flow. */
function delayRow(flow: Flow) {
  const { delaysMs, commitsMs } = flow;
  return {
    run: flow.name,
    "offered/s": Math.round(flow.offeredPerSecond),
    "delivered/s": Math.round(flow.deliveredPerSecond),
    "p50 ms": formatMs(percentile(delaysMs, 0.5)),
    "p95 ms": formatMs(percentile(delaysMs, 0.95)),
    "p99 ms": formatMs(percentile(delaysMs, 0.99)),
    "max ms": formatMs(delaysMs.at(-1) ?? 0),
    lost: flow.lost,
    duplicated: flow.duplicated,
    "commit p50 ms": formatMs(percentile(commitsMs, 0.5)),
    "commit p95 ms": formatMs(percentile(commitsMs, 0.95)),
    "webhooks peak MB": Math.round(flow.peakMb),
  };
}

/**
 * Returns a table row with the cost of a flow. The cost is CPU seconds per 1000 deliveries, and
 * commits per delivery.
 */
function costRow(flow: Flow) {
  return {
    run: flow.name,
    "CPU s per 1000": cpuTotal(flow).toFixed(2),
    ...Object.fromEntries(cpuNames.map((name) => [name, flow.cpuSeconds[name].toFixed(2)])),
    "commits/delivery": flow.commits.toFixed(2),
  };
}
