import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createLogger, type Logger } from "@amana/runtime";
import { createDiditProvider } from "../src/verification-provider/didit/didit-provider.ts";
import { createSumsubProvider } from "../src/verification-provider/sumsub/sumsub-provider.ts";

export type Reply = readonly [status: number, body: string];
export const json = (content: unknown, status = 200): Reply => [status, JSON.stringify(content)];
/** Returns an HTML page that a proxy sends instead of the vendor's response. */
export const htmlPage = (status: number): Reply => [status, "<html>proxy</html>"];

const vendorConfig = { callbackUrl: "http://127.0.0.1", uncompared: "refuse", timeoutMs: 3_000 } as const;
const common = { ...vendorConfig, webhookSecrets: ["s"] };

/**
 * Starts a server that responds in place of a vendor. The returned functions create vendor clients
 * that call this server. `replies` maps the end of a path to the response. Any other path gets
 * status 500. `calls` contains the received methods and paths.
 */
export async function startScriptedVendor() {
  const vendor = { replies: {} as Readonly<Record<string, Reply>>, calls: [] as string[] };
  const server = createServer((request, response) => {
    const path = request.url?.split("?")[0] ?? "";
    vendor.calls.push(`${request.method} ${path}`);
    const [status, body] = Object.entries(vendor.replies).find(([end]) => path.endsWith(end))?.[1] ?? [500, ""];
    const type = body.startsWith("<") ? "text/html" : "application/json";
    response.writeHead(status, { "content-type": type }).end(status === 204 ? undefined : body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const silent = createLogger("kyc", "silent");
  const levels = { both: "amana", id_card: undefined, passport: undefined };
  return Object.assign(vendor, {
    aSumsubProvider: () =>
      createSumsubProvider(
        {
          ...common,
          url,
          appToken: "prd:x",
          secretKey: "x",
          isSandbox: false,
          video: levels,
          still: { ...levels, both: undefined },
          ttlHours: 72,
          ttlHoursMax: 720,
          amlPerMinute: 6_000,
          webhookId: undefined,
        },
        silent,
      ),
    aDiditProvider: (logger: Logger = silent) =>
      createDiditProvider(
        {
          ...common,
          url,
          apiKey: "x",
          environment: "live",
          workflowId: "w",
          workflowIdStill: undefined,
          destinationId: undefined,
        },
        logger,
      ),
    stop: () => void server.close(),
  });
}
