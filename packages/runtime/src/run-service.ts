import { SettingsError } from "./env.ts";
import type { Logger } from "./logger.ts";

/** How long a clean stop may take before the process ends anyway: longer than a delayed stop and the longest request. */
const stopTimeoutMs = 65_000;

/**
 * The life of a service process: start, say so, wait for SIGTERM or SIGINT, stop cleanly. A second signal
 * ends the process at once. A start that fails, an unhandled rejection or an uncaught exception ends it with
 * code 1, so that whoever supervises it starts a fresh one.
 */
export async function runService(logger: Logger, start: () => Promise<AsyncDisposable>): Promise<void> {
  let service: AsyncDisposable | undefined;
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
    setTimeout(() => fatal(new Error(`not stopped after ${stopTimeoutMs} ms`), "stop took too long"), stopTimeoutMs).unref();
    await service?.[Symbol.asyncDispose]();
    logger.info("stopped");
    process.exit(0);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);

  try {
    service = await start();
    logger.info("started");
  } catch (error) {
    if (error instanceof SettingsError) {
      process.stderr.write(`${error.message}\n`);
      process.exit(1);
    }
    fatal(error, "could not start");
  }
}
