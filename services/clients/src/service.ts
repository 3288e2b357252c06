import { createOrm, databaseAnswers, isDatabaseUnavailable, startTallyFolding } from "@amana/database";
import { startKeyCleaning } from "@amana/idempotency";
import { consume, createTransport, deadLetterService, recordByOutbox, startRelay } from "@amana/messaging";
import { createRpcServer, openTls } from "@amana/rpc";
import type { Logger } from "@amana/runtime";
import { accountTally } from "./account/queries.ts";
import { beneficiaryTally } from "./beneficiary/queries.ts";
import { clientTally } from "./client/queries.ts";
import type { Config } from "./config.ts";
import { kyc } from "./consumers/kyc.ts";
import type { Context } from "./context.ts";
import { database } from "./orm.ts";
import { rpcServices } from "./rpc/index.ts";

/** The clients service, running. Disposing stops it in the opposite order: calls first, the database last. */
export async function startClients(config: Config, logger: Logger): Promise<AsyncDisposable & { url: string }> {
  await using stack = new AsyncDisposableStack();
  const orm = await createOrm({ url: config.databaseUrl, ...database }, logger);
  stack.defer(() => orm.close());
  const tls = config.tls && stack.use(await openTls(config.tls, logger));
  const transport = stack.use(await createTransport(config.events, { clientId: "clients", tls, logger }));
  const { autoApprove, institution, currencies } = config;
  const context: Context = { orm, logger, clock: { now: () => new Date() }, autoApprove, institution, currencies };
  const consumption = kyc(context);
  stack.use(await consume(consumption, { orm, transport, logger, retrySeconds: config.eventRetrySeconds }));
  stack.use(startRelay({ databaseUrl: config.databaseUrl, transport, logger }));
  stack.use(startKeyCleaning(orm, logger));
  stack.use(startTallyFolding(orm, [clientTally, beneficiaryTally, accountTally], logger));
  const server = stack.use(
    await createRpcServer({
      services: [
        ...rpcServices(context),
        deadLetterService({ orm, keys: transport.keys, consumptions: [consumption], record: recordByOutbox("clients") }),
        ...transport.services,
      ],
      host: config.host,
      port: config.rpcPort,
      audience: "clients",
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
