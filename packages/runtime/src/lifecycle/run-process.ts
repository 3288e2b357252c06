import { setFlagsFromString } from "node:v8";
import { StartupError } from "../config/env.ts";
import { createLogger, type Logger, type LogLevel } from "../observability/logger.ts";
import { type MetricsAddress, serveMetrics } from "../observability/metrics-server.ts";
import { collectProcessMetrics } from "../observability/process-metrics.ts";
import { startTracing } from "../observability/tracing.ts";
import type { TracingSettings } from "../observability/tracing-settings.ts";

/**
 * Without the flag, V8 lets the heap grow to several times the size of live objects, and a busy
 * service uses twice the memory that it needs.
 */
const heapGrowingFlag = "--heap-growing-percent=50";
/**
 * The process ends after this time if a clean stop has not finished. It is longer than a delayed
 * stop (STOP_DELAY_MS of the gateway) and the longest request.
 */
export const stopTimeoutMs = 65_000;

/** A started service. Without `isReady`, it is ready when it is started. */
type Running = AsyncDisposable & { readonly url?: string; isReady?(): Promise<boolean> };

/** The settings that `runProcess` uses. */
interface ProcessConfig {
  readonly logLevel: LogLevel;
  readonly metrics?: MetricsAddress;
  readonly tracing?: TracingSettings;
}

/**
 * Runs a service process: reads its settings, exports its metrics, starts the service, waits for
 * SIGTERM or SIGINT, and stops the service. A second signal ends the process at once. A failed
 * start, an unhandled rejection or an uncaught exception ends the process with code 1, so that its
 * supervisor restarts it.
 */
export async function runProcess<Config extends ProcessConfig>(
  name: string,
  readConfig: () => Config,
  start: (config: Config, logger: Logger) => Promise<Running>,
): Promise<void> {
  setFlagsFromString(heapGrowingFlag);
  const logger = createLogger(name);
  let service: Running | undefined;
  let tracing: AsyncDisposable | undefined;
  let stopping = false;

  const fatal = (error: unknown, message: string) => {
    logger.fatal({ err: error }, message);
    process.exit(1);
  };
  process.on("uncaughtException", (error) => fatal(error, "uncaught exception"));
  process.on("unhandledRejection", (error) => fatal(error, "unhandled rejection"));

  const stop = async (signal: string) => {
    if (stopping) process.exit(1);
    stopping = true;
    logger.info({ signal }, "stopping");
    setTimeout(
      () => fatal(new Error(`the process did not stop within ${stopTimeoutMs} ms`), "stop timed out, process exits"),
      stopTimeoutMs,
    ).unref();
    await service?.[Symbol.asyncDispose]();
    await tracing?.[Symbol.asyncDispose]();
    logger.info("stopped");
    process.exit(0);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);

  try {
    const config = readConfig();
    logger.level = config.logLevel;
    const isReady = async () => !stopping && service !== undefined && (await (service.isReady?.() ?? true));
    const metrics = config.metrics && (await serveMetrics(config.metrics, isReady));
    if (metrics) collectProcessMetrics();
    tracing = config.tracing && (await startTracing(config.tracing, name, logger));
    const started = await start(config, logger);
    // Frees the memory that only the start needed (docs/decisions/processes-and-images.md).
    globalThis.gc?.({ type: "major", flavor: "last-resort" });
    service = started;
    logger.info({ url: service.url, metrics_url: metrics?.url }, "started");
  } catch (error) {
    if (error instanceof StartupError) {
      process.stderr.write(`${error.message}\n`);
      process.exit(1);
    }
    fatal(error, "could not start");
  }
}
