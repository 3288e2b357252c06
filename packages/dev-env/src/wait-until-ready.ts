import { request } from "undici";
import { DevEnvError } from "./dev-env-error.ts";
import { waitUntil } from "./eventually.ts";
import type { ServiceProcess } from "./service-process.ts";

/** Long enough for a machine that other programs keep busy. */
const timeoutMs = 180_000;

/**
 * Waits until the gateway reports that all services are ready. Throws DevEnvError after 180
 * seconds, or when a process has ended and is not restarted.
 */
export async function waitUntilReady(
  gatewayUrl: string,
  processes: readonly ServiceProcess[],
  options: { supervised?: boolean; signal?: AbortSignal; logDir: string },
): Promise<void> {
  let status = "";
  const isReady = async () => {
    options.signal?.throwIfAborted();
    status = await readinessOf(gatewayUrl);
    const down = processes.find((service) => !service.isRunning());
    if (down && !options.supervised) {
      throw new DevEnvError(
        `${down.name} ended during the start. Its last output:\n${down.recentOutput()}`,
        `See the log: ${down.logFile}`,
      );
    }
    return status === "ready" && !down;
  };
  if (await waitUntil(isReady, timeoutMs)) return;
  throw new DevEnvError(`The services are not ready after ${timeoutMs / 1000} s: ${status}`, `See the logs in ${options.logDir}`);
}

async function readinessOf(gatewayUrl: string): Promise<string> {
  try {
    const { statusCode, body } = await request(`${gatewayUrl}/readyz`, { headersTimeout: 2_000, bodyTimeout: 2_000 });
    const text = await body.text();
    return statusCode === 200 ? "ready" : text;
  } catch (error) {
    return (error as Error).message;
  }
}
