import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { ownArguments } from "@amana/dev-env/own-arguments";
import { growth } from "./growth/growth.ts";
import { lists } from "./lists/lists.ts";
import { reads } from "./reads/reads.ts";
import { refunds } from "./refunds/refunds.ts";
import { start } from "./start/start.ts";
import { tenants } from "./tenants/tenants.ts";
import { traces } from "./traces/traces.ts";
import { verdicts } from "./verdicts/verdicts.ts";
import { webhooks } from "./webhooks/webhooks.ts";
import { writes } from "./writes/writes.ts";

/**
 * Each benchmark compares programs in turn on this machine; a figure means something only beside
 * the others of its run.
 */
const benchmarks = { growth, lists, reads, refunds, start, tenants, traces, verdicts, webhooks, writes } as const;

const { values, positionals } = parseArgs({
  args: ownArguments(),
  options: {
    json: { type: "string" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "8" },
    events: { type: "string", default: "kafka" },
    quick: { type: "boolean", default: false },
    rows: { type: "string", default: "5000000" },
    held: { type: "string", default: "600" },
  },
  allowPositionals: true,
});
const [name = "", ...names] = positionals;
const benchmark = Object.hasOwn(benchmarks, name) ? benchmarks[name as keyof typeof benchmarks] : undefined;

if (!benchmark) {
  process.stderr.write(
    `Which benchmark? npx --yes pnpm@12 bench <${Object.keys(benchmarks).join("|")}> [--rounds=3] [--seconds=8] [--json=FILE]\n` +
      "webhooks and writes take --quick; webhooks also takes names of scenarios, --events=kafka|direct, --rows=5000000, --held=600 (seconds)\n",
  );
  process.exit(1);
}
const { events, quick } = values;
if (events !== "kafka" && events !== "direct") throw new Error(`--events is kafka or direct, not ${events}`);
const [rounds, seconds, rows, held] = [values.rounds, values.seconds, values.rows, values.held].map(Number) as [
  number,
  number,
  number,
  number,
];
const result = await benchmark({ rounds, seconds, rows, held, names, events, quick });
if (values.json) await writeFile(values.json, `${JSON.stringify(result, null, 2)}\n`);
process.exit(0);
