import { join } from "node:path";
import { readEnv } from "@amana/runtime";
import { amanaDir } from "@amana/runtime/amana-dir";
import { Option } from "commander";
import { createCommand, createStopSignal, runCommandLine } from "./command-line.ts";
import { openDataDir, removeData } from "./data-dir.ts";
import { apiCaller } from "./demo/api.ts";
import { removeDevFile, writeDevFile } from "./dev-file.ts";
import { type EventChoice, eventChoices } from "./event-transport.ts";
import { createProgress, type ProgressStep } from "./progress.ts";
import { serviceNames } from "./services.ts";
import { type System, type SystemOptions, startSystem } from "./system.ts";
import { restartOnChange } from "./watch.ts";

interface StartOptions {
  readonly events: EventChoice;
  readonly fresh?: boolean;
  readonly watch?: boolean;
}

const root = join(import.meta.dirname, "..", "..", "..");

const settingsHelp = `
Settings (environment variables):
  PORT                         port of the API (default: 8080)
  SANDBOX_PORT                 port of the sandbox (default: 8090)
  AMANA_DIR                    folder of data, logs and dev.json (default: .amana)
  DATABASE_URL                 use this PostgreSQL; do not start one
  KAFKA_BROKERS                use this Kafka; do not start one
  OTEL_EXPORTER_OTLP_ENDPOINT  send spans to this collector
  TRACE_RATIO                  share of requests that are traced (default: 1)`;

const progress = createProgress();
const command = createCommand(
  "start",
  "Start Amana on this machine: PostgreSQL, the event transport, every service, and the sandbox of the card processor.",
)
  .addOption(
    new Option("--events <transport>", "transport of events; auto uses the first transport that works")
      .choices(eventChoices)
      .default("auto"),
  )
  .option("--fresh", "delete the data of the previous run first")
  .option("--watch", "restart a service when its files change (the command dev)")
  .addHelpText("after", settingsHelp)
  .action(start);
await runCommandLine(command);

async function start({ events, fresh, watch }: StartOptions): Promise<void> {
  const ports = readEnv((env) => ({
    port: env.integer("PORT", { fallback: 8080, min: 1, max: 65_535 }),
    sandboxPort: env.integer("SANDBOX_PORT", { fallback: 8090, min: 1, max: 65_535 }),
  }));
  if (fresh) await removeData(amanaDir(root));
  const dir = await openDataDir(amanaDir(root));
  process.env["NODE_COMPILE_CACHE"] ??= join(dir, "cache");
  await run(dir, ports, events, watch === true);
}

async function run(
  dir: string,
  ports: Required<Pick<SystemOptions, "port" | "sandboxPort">>,
  events: EventChoice,
  watch: boolean,
): Promise<void> {
  const startedMs = performance.now();
  let stopping: ProgressStep | undefined;
  const { promise: stopRequested, resolve: requestStop } = Promise.withResolvers<void>();
  const signal = createStopSignal(() => {
    progress.stopSteps();
    stopping = progress.step("Stopping");
    stopping.update("waiting for processes to end");
    requestStop();
  });

  const system = await startSystem({
    dir,
    ...ports,
    events,
    brokers: process.env["KAFKA_BROKERS"],
    databaseUrl: process.env["DATABASE_URL"] || undefined,
    kycProvider: process.env["KYC_PROVIDER"],
    env: tracingSettings(),
    supervised: true,
    progress,
    signal,
  }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (!system) {
    stopping?.done("stopped before all services had started");
    return;
  }
  await writeDevFile(dir, system);
  const keys = {
    operator: await describeKey(system.gatewayUrl, system.adminKey, "/api/v1/businesses?limit=1"),
    business: await describeKey(system.gatewayUrl, system.business.api_key, "/api/v1/me"),
  };
  if (!signal.aborted) {
    progress.print(
      `\n${startMessage(system, dir, keys)}\nReady after ${((performance.now() - startedMs) / 1000).toFixed(1)} s. Press Ctrl-C to stop.`,
    );
  }

  const watching = watch ? restartOnChange(root, system, progress) : undefined;
  await stopRequested;
  watching?.[Symbol.dispose]();
  await removeDevFile(dir);
  await system[Symbol.asyncDispose]();
  stopping?.done(`the data is in ${dir}`);
}

/** Passes the tracing settings of this command to all services. Traces all requests by default. */
function tracingSettings(): SystemOptions["env"] {
  const names = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_CERTIFICATE"];
  const exporter = Object.fromEntries(names.map((name) => [name, process.env[name] ?? ""]));
  const settings = { ...exporter, TRACE_RATIO: process.env["TRACE_RATIO"] ?? "1" };
  return Object.fromEntries(serviceNames.map((name) => [name, settings]));
}

/** Returns the key, or an explanation if the key was revoked in an earlier run. */
async function describeKey(gatewayUrl: string, key: string, path: string): Promise<string> {
  const { status } = await apiCaller(gatewayUrl, key)("GET", path);
  return status === 401 ? "revoked; use a newer key, or delete all data with --fresh" : key;
}

function startMessage(system: System, dir: string, keys: { operator: string; business: string }): string {
  return `Amana is running.

  API            ${system.gatewayUrl}/api/v1
  Guide          ${system.gatewayUrl}/docs/guide
  API reference  ${system.gatewayUrl}/docs
  Sandbox        ${system.sandboxUrl}/
  Events         ${system.events.how}
  Logs           ${join(dir, "logs")}
  Metrics        addresses in ${join(dir, "dev.json")}

  Operator key   ${keys.operator}
  Business key   ${keys.business}

First request:

  curl ${system.gatewayUrl}/api/v1/me -H 'Authorization: Bearer ${system.business.api_key}'

Demo, in another terminal: npx --yes pnpm@12 demo
`;
}
