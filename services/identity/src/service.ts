import { createOrm, databaseAnswers, isDatabaseUnavailable } from "@amana/database";
import { startKeyCleaning } from "@amana/idempotency";
import { consume, createTransport, deadLetterService } from "@amana/messaging";
import { createRpcServer, openTls } from "@amana/rpc";
import { type Logger, sleep } from "@amana/runtime";
import { storeBootstrapKey } from "./admin-key/store-bootstrap-key.ts";
import { recordDeadLetter } from "./audit/record-dead-letter.ts";
import type { Config } from "./config.ts";
import { audit } from "./consumers/audit.ts";
import type { Context } from "./context.ts";
import { createKeyLeases } from "./key-lease/key-leases.ts";
import { trackKeyUse } from "./key-lease/key-use.ts";
import { database } from "./orm.ts";
import { rpcServices } from "./rpc/index.ts";

/** Starts the service on a migrated database. Disposing lets running calls end, then closes the database. */
export async function startIdentity(config: Config, logger: Logger): Promise<AsyncDisposable & { url: string }> {
  await using stack = new AsyncDisposableStack();
  const orm = await createOrm({ url: config.databaseUrl, ...database }, logger);
  stack.defer(() => orm.close());
  const tls = config.tls && stack.use(await openTls(config.tls, logger));

  const clock = { now: () => new Date() };
  const context: Context = {
    orm,
    logger,
    clock,
    keyMode: config.keyMode,
    leases: createKeyLeases({ leaseMs: config.keyLeaseMs, wait: sleep }),
    keyUse: stack.use(trackKeyUse(orm, logger)),
  };
  await storeBootstrapKey(context, config.bootstrapAdminKey);
  const transport = stack.use(await createTransport(config.events, { clientId: "identity", tls, logger }));
  stack.use(await consume(audit, { orm, transport, logger, retrySeconds: config.eventRetrySeconds }));
  stack.use(startKeyCleaning(orm, logger));

  const server = stack.use(
    await createRpcServer({
      services: [
        ...rpcServices(context),
        deadLetterService({ orm, keys: transport.keys, consumptions: [audit], record: recordDeadLetter(clock) }),
        ...transport.services,
      ],
      host: config.host,
      port: config.rpcPort,
      audience: "identity",
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
