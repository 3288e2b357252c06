import { createCallerSigner, createRpcChannel, openTls } from "@amana/rpc";
import { type Logger, sleep } from "@amana/runtime";
import { createApp } from "./app.ts";
import { createBulkheadChannel } from "./bulkheads/bulkhead-channel.ts";
import type { Config } from "./config.ts";
import { createGateway } from "./gateway.ts";
import type { Channels } from "./rpc.ts";

/** Longer than a request needs from one host to another. */
const idleGraceMs = 100;
/** Waiting to be accepted: one that finds no room tries again only after a second. */
const backlog = 4_096;
/** For requests that have begun to arrive when the gateway closes. */
const arrivalMs = 3_000;

/** Starts the gateway. Stopping turns readiness off first, then finishes what is under way. */
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
    // A request whose rest never comes must not keep the gateway from stopping.
    const cutOff = setTimeout(() => connections.cutOffUnfinished(), arrivalMs);
    await app.close();
    clearTimeout(cutOff);
  });
  await app.listen({ host: config.host, port: config.port, backlog });
  const { port } = app.addresses()[0] as { port: number };
  stack.defer(async () => {
    readiness.stop();
    connections.endWithAnswers();
    // Balancers need a moment to look elsewhere; requests may be on their way.
    await sleep(Math.max(config.stopDelayMs, idleGraceMs));
  });

  const started = stack.move();
  return { url: `http://${config.host}:${port}`, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
