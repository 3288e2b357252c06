import { createOrm, databaseAnswers, isDatabaseUnavailable } from "@amana/database";
import { startKeyCleaning } from "@amana/idempotency";
import { createTransport, startRelay } from "@amana/messaging";
import { createRpcServer, openTls } from "@amana/rpc";
import type { Logger } from "@amana/runtime";
import { createSatim } from "./card-processor/satim.ts";
import type { Config } from "./config.ts";
import type { Context } from "./context.ts";
import { reconcilePayments } from "./jobs/reconcile-payments.ts";
import { rereadPayments } from "./jobs/reread-payments.ts";
import { resolveRefunds } from "./jobs/resolve-refunds.ts";
import { database } from "./orm.ts";
import { rpcServices } from "./rpc/index.ts";

/** The payments service, running. Disposing stops it in the opposite order: calls first, the database last. */
export async function startPayments(config: Config, logger: Logger): Promise<AsyncDisposable & { url: string }> {
  await using stack = new AsyncDisposableStack();
  const orm = await createOrm({ url: config.databaseUrl, ...database }, logger);
  stack.defer(() => orm.close());
  const tls = config.tls && stack.use(await openTls(config.tls, logger));
  const transport = stack.use(await createTransport(config.events, { clientId: "payments", tls, logger }));
  const processor = stack.use(createSatim(config.satim));
  const context: Context = {
    orm,
    processor,
    logger,
    schedule: config.schedule,
    publicUrl: config.publicUrl,
    formUrlTemplate: config.satim.formUrlTemplate,
  };
  stack.use(startRelay({ databaseUrl: config.databaseUrl, transport, logger }));
  stack.use(startKeyCleaning(orm, logger));
  stack.use(reconcilePayments(context));
  stack.use(resolveRefunds(context));
  stack.use(rereadPayments(context));
  const server = stack.use(
    await createRpcServer({
      services: [...rpcServices(context), ...transport.services],
      host: config.host,
      port: config.rpcPort,
      audience: "payments",
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
