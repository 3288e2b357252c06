import { createCallerSigner, createRpcChannel, openTls } from "@amana/rpc";
import { type Logger, sleep } from "@amana/runtime";
import { createApp } from "./app.ts";
import { createBulkheadChannel } from "./bulkheads/bulkhead-channel.ts";
import type { Config } from "./config.ts";
import { createGateway } from "./gateway.ts";
import type { Channels } from "./rpc.ts";

/**
 * Minimum time in which the gateway still accepts requests after /readyz reports that it is not
 * ready. A request in transit arrives within this time.
 */
const idleGraceMs = 100;
/**
 * Length of the queue of connections that are not accepted yet. A caller whose connection does not
 * fit in the queue retries only after a second.
 */
const backlog = 4_096;
/** Maximum time for a request to arrive completely after the gateway begins to close. */
const arrivalMs = 3_000;

/**
 * Starts the gateway. When the returned object is disposed, the gateway first reports that it is
 * not ready, and then drains the requests in flight.
 */
export async function startGateway(config: Config, logger: Logger): Promise<AsyncDisposable & { url: string }> {
  await using stack = new AsyncDisposableStack();
  const tls = config.tls && stack.use(await openTls(config.tls, logger));
  const signer = createCallerSigner(config.callerKey);
  const connect = (audience: string, urls: readonly string[]) =>
    stack.use(createBulkheadChannel(urls.length, createRpcChannel({ urls, audience, signer, tls })));
  const channels = Object.fromEntries(Object.entries(config.services).map(([name, urls]) => [name, connect(name, urls)]));
  const gateway = createGateway(channels as unknown as Channels, config, logger);
  const { connections, readiness } = gateway;
  const app = await createApp(gateway);
  stack.defer(async () => {
    // A request that never arrives completely must not prevent the gateway from stopping.
    const timer = setTimeout(() => connections.closeWithoutRequest(), arrivalMs);
    await app.close();
    clearTimeout(timer);
  });
  await app.listen({ host: config.host, port: config.port, backlog });
  const { port } = app.addresses()[0] as { port: number };
  stack.defer(async () => {
    readiness.stop();
    connections.closeAllAfterResponse();
    // Load balancers need time to select other replicas, and requests may be in transit.
    await sleep(Math.max(config.stopDelayMs, idleGraceMs));
  });

  const resources = stack.move();
  return { url: `http://${config.host}:${port}`, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}
