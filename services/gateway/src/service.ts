import { createRpcChannel } from "@amana/rpc";
import { type Logger, sleep } from "@amana/runtime";
import { createApp } from "./app.ts";
import { createClients } from "./clients.ts";
import type { Config } from "./config.ts";
import { createKeyLeases } from "./key-lease/create-key-leases.ts";
import { createRateLimits } from "./rate-limit/rate-limits.ts";
import { Readiness } from "./readiness.ts";

/** Starts the gateway. Stopping turns readiness off first, then finishes what is under way. */
export async function startGateway(config: Config, logger: Logger): Promise<AsyncDisposable & { url: string }> {
  await using stack = new AsyncDisposableStack();
  const connect = (urls: readonly string[]) => stack.use(createRpcChannel({ urls, secret: config.rpcSecret }));
  const channels = {
    identity: connect(config.identityUrls),
    kyc: connect(config.kycUrls),
    clients: connect(config.clientsUrls),
    payments: connect(config.paymentsUrls),
    webhooks: connect(config.webhooksUrls),
  };
  const clients = createClients(channels);
  const readiness = new Readiness(channels);
  const { allowInsecureUrls, trustedProxies } = config;
  const keys = createKeyLeases(clients);
  const limits = createRateLimits(config.rateLimits);
  const app = await createApp({
    clients,
    keys,
    readiness,
    limits,
    logger,
    allowInsecureUrls,
    fingerprintSecret: config.rpcSecret,
    trustedProxies,
  });
  stack.defer(() => app.close());
  await app.listen({ host: config.host, port: config.port });
  const { port } = app.addresses()[0] as { port: number };
  stack.defer(async () => {
    readiness.stop();
    // Balancers need a moment to look elsewhere.
    await sleep(config.stopDelayMs);
  });

  const started = stack.move();
  return { url: `http://${config.host}:${port}`, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
