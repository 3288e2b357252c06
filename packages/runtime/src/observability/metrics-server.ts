import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { EnvReader } from "../config/env.ts";
import { registry, renderMetrics } from "./metrics.ts";

/** Address at which a process serves its metrics. */
export interface MetricsAddress {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
}

/**
 * Reads METRICS_PORT and METRICS_HOST. The default host is loopback, because the metrics show the
 * business volume. Returns undefined without a port: the process then serves no metrics.
 */
export function readMetricsAddress(env: EnvReader): MetricsAddress | undefined {
  const host = env.string("METRICS_HOST", "127.0.0.1");
  if (env.optional("METRICS_PORT") === undefined) return undefined;
  return { host, port: env.integer("METRICS_PORT", { max: 65_535 }) };
}

/** Maximum number of connections. Scrapers and probes need fewer. */
const connectionsMax = 16;
const timeoutMs = 5_000;

/**
 * Serves GET /metrics until the process ends; the server does not keep the process alive. It also
 * serves two probes: /livez responds while the event loop runs, and /readyz returns 503 while the
 * service cannot accept requests. `isReady` must not throw.
 */
export async function serveMetrics(
  { host, port }: MetricsAddress,
  isReady: () => Promise<boolean>,
): Promise<{ readonly url: string }> {
  const server = createServer(
    { headersTimeout: timeoutMs, requestTimeout: timeoutMs, keepAliveTimeout: 90_000, maxHeaderSize: 8_192 },
    (request, response) => {
      request.resume();
      switch (request.method === "GET" && request.url) {
        case "/metrics":
          return void renderMetrics().then(
            (text) => end(response, 200, text, registry.contentType),
            () => end(response, 500, "The metrics could not be read.\n"),
          );
        case "/livez":
          return end(response, 200, "alive\n");
        case "/readyz":
          return void isReady().then((ready) => (ready ? end(response, 200, "ready\n") : end(response, 503, "not ready\n")));
        default:
          return end(response, 404, "Not found. Available paths: /metrics, /livez and /readyz.\n");
      }
    },
  );
  // Destroys the oldest connection beyond the maximum. Otherwise many idle connections would
  // prevent probes, and the process would be restarted.
  const openSockets = new Set<Socket>();
  server.on("connection", (socket) => {
    openSockets.add(socket);
    socket.once("close", () => openSockets.delete(socket));
    const [oldestSocket] = openSockets;
    if (openSockets.size > connectionsMax) oldestSocket?.destroy();
  });
  server.unref();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  return { url: `http://${host}:${(server.address() as AddressInfo).port}/metrics` };
}

function end(response: ServerResponse, status: number, text: string, type = "text/plain; charset=utf-8"): void {
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(text) }).end(text);
}
