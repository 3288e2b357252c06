import { createOrm, databaseAnswers, isDatabaseUnavailable } from "@amana/database";
import { startKeyCleaning } from "@amana/idempotency";
import { consume, createTransport, deadLetterService, recordByOutbox, startRelay } from "@amana/messaging";
import { createRpcServer, openTls } from "@amana/rpc";
import type { Logger } from "@amana/runtime";
import { createSecretBox } from "@amana/secret-box";
import type { Config } from "./config.ts";
import { kyc } from "./consumers/kyc.ts";
import { payments } from "./consumers/payments.ts";
import { startDelivering } from "./delivery/deliver.ts";
import { deleteOldEvents } from "./jobs/delete-old-events.ts";
import { database } from "./orm.ts";
import { rpcServices } from "./rpc/index.ts";
import { createAddressGuard } from "./webhook-endpoint/address-guard.ts";

export async function startWebhooks(config: Config, logger: Logger): Promise<AsyncDisposable & { url: string }> {
  await using stack = new AsyncDisposableStack();
  const orm = await createOrm({ url: config.databaseUrl, ...database }, logger);
  stack.defer(() => orm.close());
  const tls = config.tls && stack.use(await openTls(config.tls, logger));
  const clock = { now: () => new Date() };
  const secrets = createSecretBox(config.secretEncryptionKeys);
  const addresses = createAddressGuard({ allowInsecure: config.allowInsecureWebhooks });
  const transport = stack.use(await createTransport(config.events, { clientId: "webhooks", tls, logger }));
  const deliveries = stack.use(
    startDelivering({
      orm,
      logger,
      clock,
      secrets,
      addresses,
      pausesMs: config.retryScheduleSeconds.map((seconds) => seconds * 1000),
      concurrency: config.deliveryConcurrency,
      businessConcurrency: config.businessConcurrency,
      endpointConcurrency: config.endpointConcurrency,
    }),
  );
  const consumptions = [payments(deliveries.wake), kyc(deliveries.wake)];
  for (const consumption of consumptions) {
    stack.use(await consume(consumption, { orm, transport, logger, retrySeconds: config.eventRetrySeconds }));
  }
  stack.use(startRelay({ databaseUrl: config.databaseUrl, transport, logger }));
  stack.use(startKeyCleaning(orm, logger));
  stack.use(deleteOldEvents(orm, logger));
  const server = stack.use(
    await createRpcServer({
      services: [
        ...rpcServices({ orm, logger, clock, secrets, addresses, deliveries }),
        deadLetterService({ orm, keys: transport.keys, consumptions, record: recordByOutbox("webhooks") }),
        ...transport.services,
      ],
      host: config.host,
      port: config.rpcPort,
      audience: "webhooks",
      callerKeys: config.callerKeys,
      tls,
      logger,
      isUnavailable: isDatabaseUnavailable,
      isReady: () => databaseAnswers(orm),
    }),
  );

  const running = stack.move();
  return { url: server.url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
