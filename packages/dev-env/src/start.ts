import { once } from "node:events";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { readEnv, StartRefused } from "@amana/runtime";
import { apiCaller } from "./demo/api.ts";
import { DevEnvError } from "./dev-env-error.ts";
import { removeDevFile, writeDevFile } from "./dev-file.ts";
import { type EventChoice, eventChoices } from "./event-transport.ts";
import { ownArguments } from "./own-arguments.ts";
import { createProgress } from "./progress.ts";
import { serviceNames } from "./services.ts";
import { removeData, type System, type SystemOptions, startSystem } from "./system.ts";
import { restartOnChange } from "./watch.ts";

const root = join(import.meta.dirname, "..", "..", "..");

const usage = `Starts Amana on this machine: PostgreSQL, events, every service, and the sandbox of the card processor.

  npx --yes pnpm@12 start [options]

  --events=auto|kafka|docker|direct   how events travel; auto takes the first that works (default)
  --fresh                             throws the kept data away first
  --watch                             restarts a service when its files change (this is \`dev\`)
  --help

  PORT (8080), SANDBOX_PORT (8090)    where the API and the sandbox listen
  AMANA_DIR (.amana)                  where data, logs and dev.json are kept
  DATABASE_URL                        a PostgreSQL to use instead of the embedded one
  KAFKA_BROKERS                       a Kafka to use instead of starting one
  OTEL_EXPORTER_OTLP_ENDPOINT         a collector that spans are sent to, of the share TRACE_RATIO (1)
`;

const progress = createProgress();
try {
  await main();
} catch (error) {
  if (!(error instanceof DevEnvError || error instanceof StartRefused)) throw error;
  process.stderr.write(`\n✗ ${error.message}\n`);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const values = readArguments();
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const events = eventChoices.find((choice) => choice === values.events);
  if (!events) throw new DevEnvError(`--events=${values.events} is not known.`, `Use one of ${eventChoices.join(", ")}.`);

  const dir = resolve(root, process.env["AMANA_DIR"] ?? ".amana");
  process.env["NODE_COMPILE_CACHE"] ??= join(dir, "cache");
  if (values.fresh) await removeData(dir);
  await run(dir, events, values.watch);
}

function readArguments() {
  try {
    const { values } = parseArgs({
      args: ownArguments(),
      options: {
        events: { type: "string", default: "auto" },
        fresh: { type: "boolean", default: false },
        watch: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    return values;
  } catch (error) {
    throw new DevEnvError((error as Error).message.split(". ")[0] ?? "", "See: npx --yes pnpm@12 start --help", { cause: error });
  }
}

async function run(dir: string, events: EventChoice, watch: boolean): Promise<void> {
  const startedMs = performance.now();
  const ports = readEnv((env) => ({
    port: env.integer("PORT", { fallback: 8080, min: 1, max: 65_535 }),
    sandboxPort: env.integer("SANDBOX_PORT", { fallback: 8090, min: 1, max: 65_535 }),
  }));
  const stop = new AbortController();
  const stopRequested = once(stop.signal, "abort");
  let signals = 0;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      // A second Ctrl-C does not wait: children are told on exit.
      if (++signals > 1) process.exit(1);
      stop.abort();
    });
  }

  const system = await startSystem({
    dir,
    ...ports,
    events,
    brokers: process.env["KAFKA_BROKERS"],
    databaseUrl: process.env["DATABASE_URL"],
    env: tracingSettings(),
    supervised: true,
    progress,
    signal: stop.signal,
  }).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  if (!system) {
    progress.print("Stopped before everything had started.");
    return;
  }
  await writeDevFile(dir, system);
  const keys = {
    operator: await keyOrWhyNot(system.gatewayUrl, system.adminKey, "/api/v1/businesses?limit=1"),
    business: await keyOrWhyNot(system.gatewayUrl, system.business.api_key, "/api/v1/me"),
  };
  progress.print(
    `\n${welcome(system, dir, keys)}\nReady after ${((performance.now() - startedMs) / 1000).toFixed(1)} s. Ctrl-C stops everything.`,
  );

  const watching = watch ? restartOnChange(root, system, progress) : undefined;
  await stopRequested;
  watching?.[Symbol.dispose]();
  const stopping = progress.step("Stopping");
  await removeDevFile(dir);
  await system[Symbol.asyncDispose]();
  stopping.done(`data is kept in ${dir}`);
}

/** For every service: those of this command. On a machine of one's own all traces are worth it. */
function tracingSettings(): SystemOptions["env"] {
  const names = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_CERTIFICATE"];
  const given = Object.fromEntries(names.map((name) => [name, process.env[name] ?? ""]));
  const settings = { ...given, TRACE_RATIO: process.env["TRACE_RATIO"] ?? "1" };
  return Object.fromEntries(serviceNames.map((name) => [name, settings]));
}

/** The key, unless it was revoked in an earlier run. */
async function keyOrWhyNot(gatewayUrl: string, key: string, path: string): Promise<string> {
  const { status } = await apiCaller(gatewayUrl, key)("GET", path);
  return status === 401 ? "revoked; use one that was issued since, or begin anew with --fresh" : key;
}

function welcome(system: System, dir: string, keys: { operator: string; business: string }): string {
  return `Amana is running.

  API            ${system.gatewayUrl}/api/v1
  Documentation  ${system.gatewayUrl}/docs/guide, and /docs for the reference
  Sandbox        ${system.sandboxUrl}/
  Events         ${system.events.how}
  Logs           ${join(dir, "logs")}
  Metrics        ${join(dir, "dev.json")} has the address of each service

  Operator's key ${keys.operator}
  Business key   ${keys.business}

A first call:

  curl ${system.gatewayUrl}/api/v1/me -H 'Authorization: Bearer ${system.business.api_key}'

The whole story, in another terminal: npx --yes pnpm@12 demo
`;
}
