/** The command `bench`: runs one benchmark on this machine and prints its tables. */
import { writeFile } from "node:fs/promises";
import { createCommand, numberParser, runCommandLine, wholeNumberParser } from "@amana/dev-env/command-line";

/**
 * Loaders of the benchmarks, so that `--help` loads no benchmark. A benchmark measures its programs
 * one after another. Only figures of the same run can be compared, because they depend on the
 * machine.
 */
const benchmarks = {
  growth: async () => (await import("./growth/growth.ts")).measureGrowth,
  pages: async () => (await import("./pages/pages.ts")).measurePages,
  reads: async () => (await import("./reads/reads.ts")).measureReads,
  "refund-latency": async () => (await import("./refund-latency/refund-latency.ts")).measureRefundLatency,
  start: async () => (await import("./start/start.ts")).measureStart,
  statement: async () => (await import("./statement/statement.ts")).measureStatement,
  webhooks: async () => (await import("./webhooks/webhooks.ts")).measureWebhooks,
  writes: async () => (await import("./writes/writes.ts")).measureWrites,
} as const;

const descriptions: readonly (readonly [keyof typeof benchmarks, string])[] = [
  ["growth", "CPU time, rows, disk and write-ahead log for each operation"],
  ["pages", "delay of other requests while the gateway serves 200 checkout pages a second, and the cost of a page"],
  ["reads", "authenticated reads through the gateway, compared with bare servers"],
  ["refund-latency", "latency of a refund with a distant processor, and the connections to the processor"],
  ["start", "time from the start command to the first response, and idle memory and CPU"],
  ["statement", "rate of a long money statement, and the memory of the gateway and payments"],
  ["webhooks", "delay, rate and cost of deliveries, from the commit of an event to the arrival of its webhook"],
  ["writes", "creations and refunds through the gateway, compared with a bare server and an ORM server"],
];

interface BenchOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly events: "kafka" | "direct";
  readonly quick?: boolean;
  readonly rows: number;
  readonly held: number;
  readonly lines: number;
  readonly json?: string;
}

const command = createCommand("bench", "Run a benchmark of the system on this machine.");
command
  .addArgument(command.createArgument("<benchmark>", "one of the benchmarks below").choices(Object.keys(benchmarks)))
  .argument("[names...]", "webhooks: scenarios to run (default: all)")
  .option("--rounds <n>", "number of measurements of each program", wholeNumberParser(1, 1_000), 3)
  .option("--seconds <n>", "duration of each measurement in seconds", numberParser(0.1, 86_400), 8)
  .option("--json <file>", "also write the result as JSON to this file (default: no file)")
  .addOption(
    command
      .createOption("--events <transport>", "webhooks, growth: event transport")
      .choices(["kafka", "direct"])
      .default("kafka"),
  )
  .option("--quick", "refund-latency, webhooks, writes: run for only a few seconds, with unreliable figures")
  .option(
    "--rows <n>",
    "webhooks: number of old deliveries in the scenario 'old'",
    wholeNumberParser(1, 1_000_000_000),
    5_000_000,
  )
  .option(
    "--held <seconds>",
    "webhooks: time for which the scenario 'held' keeps a transaction open",
    numberParser(1, 86_400),
    600,
  )
  .option("--lines <n>", "statement: number of lines", wholeNumberParser(1, 100_000_000), 1_000_000)
  .addHelpText("after", `\nBenchmarks:\n${descriptions.map(([name, text]) => `  ${name.padEnd(15)} ${text}`).join("\n")}`)
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
  // Exits explicitly, because an open connection of a benchmark would keep the process running.
  process.exit(0);
}
