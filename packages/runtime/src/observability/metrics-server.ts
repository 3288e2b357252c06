import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { EnvReader } from "../config/env.ts";
import { registry, renderMetrics } from "./metrics.ts";

/** Where a process shows its metrics. */
export interface MetricsAddress {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
}

/**
 * METRICS_PORT, and METRICS_HOST, which is loopback unless given: who reads them learns how much
 * business there is. Without a port there is nothing to read.
 */
export function readMetricsAddress(env: EnvReader): MetricsAddress | undefined {
  const host = env.string("METRICS_HOST", "127.0.0.1");
  if (env.optional("METRICS_PORT") === undefined) return undefined;
  return { host, port: env.integer("METRICS_PORT", { max: 65_535 }) };
}

/** More than anybody scrapes with. */
const connectionsMax = 16;
const timeoutMs = 5_000;

/**
 * Serves GET /metrics to its process's end, which it does not put off. And for probes /livez,
 * whether the process still gets to answer, and /readyz, whether it may be sent work. `isReady`
 * must not throw.
 */
export async function serveMetrics(
  { host, port }: MetricsAddress,
  isReady: () => Promise<boolean>,
): Promise<{ readonly url: string }> {
  const server = createServer(
    { headersTimeout: timeoutMs, requestTimeout: timeoutMs, keepAliveTimeout: 90_000, maxHeaderSize: 8_192 },
    (request, response) => {
      // Nothing of a body is read.
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
          return end(response, 404, "There are /metrics, /livez and /readyz.\n");
      }
    },
  );
  // The newest is served: many that are held open must not make the process look dead to probes.
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    const [oldest] = open;
    if (open.size > connectionsMax) oldest?.destroy();
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
