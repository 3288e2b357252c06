/** The command `bench`: measures the system, or a part of it, on this machine. */
import { writeFile } from "node:fs/promises";
import { createCommand, numberFrom, runCommandLine, wholeFrom } from "@amana/dev-env/command-line";

/**
 * Each benchmark compares programs in turn on this machine; a figure means something only beside
 * the others of its run. Loaded on demand: the usage text needs none of them.
 */
const benchmarks = {
  growth: async () => (await import("./growth/growth.ts")).growth,
  reads: async () => (await import("./reads/reads.ts")).reads,
  refunds: async () => (await import("./refunds/refunds.ts")).refunds,
  start: async () => (await import("./start/start.ts")).start,
  tenants: async () => (await import("./tenants/tenants.ts")).tenants,
  traces: async () => (await import("./traces/traces.ts")).traces,
  verdicts: async () => (await import("./verdicts/verdicts.ts")).verdicts,
  webhooks: async () => (await import("./webhooks/webhooks.ts")).webhooks,
  writes: async () => (await import("./writes/writes.ts")).writes,
} as const;

interface BenchOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly events: "kafka" | "direct";
  readonly quick?: boolean;
  readonly rows: number;
  readonly held: number;
  readonly json?: string;
}

const command = createCommand("bench", "Measure the system on this machine.");
command
  .addArgument(command.createArgument("<benchmark>", "what to measure").choices(Object.keys(benchmarks)))
  .argument("[names...]", "scenarios of webhooks, or prefixes of the operations of tenants (default: all)")
  .option("--rounds <n>", "measurements of each program", wholeFrom(1, 1_000), 3)
  .option("--seconds <n>", "duration of each measurement", numberFrom(0.1, 86_400), 8)
  .option("--json <file>", "also write the result to this file")
  .addOption(
    command
      .createOption("--events <transport>", "webhooks, growth: transport of events")
      .choices(["kafka", "direct"])
      .default("kafka"),
  )
  .option("--quick", "webhooks, writes: a short run, for a first impression")
  .option("--rows <n>", "webhooks: rows in the table of scenario old", wholeFrom(1, 1_000_000_000), 5_000_000)
  .option("--held <seconds>", "webhooks: time for which scenario held holds deliveries", numberFrom(1, 86_400), 600)
  .action(bench);
await runCommandLine(command);

async function bench(
  name: keyof typeof benchmarks,
  names: string[],
  { json, quick = false, ...options }: BenchOptions,
): Promise<void> {
  const benchmark = await benchmarks[name]();
  const result = await benchmark({ ...options, quick, names });
  if (json !== undefined) await writeFile(json, `${JSON.stringify(result, null, 2)}\n`);
  // A connection that a benchmark left open must not keep the process alive.
  process.exit(0);
}
