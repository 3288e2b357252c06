import { createOrm, databaseAnswers, isDatabaseUnavailable, startTallyFolding } from "@amana/database";
import { startKeyCleaning } from "@amana/idempotency";
import { createTransport, startRelay } from "@amana/messaging";
import { createCallerSigner, createRpcServer, openTls } from "@amana/rpc";
import type { Logger } from "@amana/runtime";
import { createSecretBox } from "@amana/secret-box";
import { createClients } from "./clients/rpc-clients.ts";
import type { Config } from "./config.ts";
import type { Context } from "./context.ts";
import { catchUp } from "./jobs/catch-up.ts";
import { checkApplications } from "./jobs/check-applications.ts";
import { deleteLeftovers } from "./jobs/delete-leftovers.ts";
import { noticeDocuments } from "./jobs/notice-documents.ts";
import { reencryptLinks } from "./jobs/reencrypt-links.ts";
import { removeLinks } from "./jobs/remove-links.ts";
import { kycApplicationTally } from "./kyc-application/queries.ts";
import { database } from "./orm.ts";
import { rpcServices } from "./rpc/index.ts";
import { createHttpProvider } from "./verification-provider/http-provider.ts";

/** The KYC service, running. Disposing stops it in the opposite order: calls first, the database last. */
export async function startKyc(config: Config, logger: Logger): Promise<AsyncDisposable & { url: string }> {
  await using stack = new AsyncDisposableStack();
  const orm = await createOrm({ url: config.databaseUrl, ...database }, logger);
  stack.defer(() => orm.close());
  const tls = config.tls && stack.use(await openTls(config.tls, logger));
  const transport = stack.use(await createTransport(config.events, { clientId: "kyc", tls, logger }));
  const provider = stack.use(createHttpProvider(config.provider));
  const clients = stack.use(createClients({ urls: config.clientsUrls, signer: createCallerSigner(config.callerKey), tls }));
  const context: Context = {
    orm,
    provider,
    clients,
    logger,
    secrets: createSecretBox(config.secretEncryptionKeys),
    callbackSecrets: config.callbackSecrets,
    checkPausesSeconds: config.checkPausesSeconds,
  };
  stack.use(startRelay({ databaseUrl: config.databaseUrl, transport, logger }));
  stack.use(startKeyCleaning(orm, logger));
  stack.use(startTallyFolding(orm, [kycApplicationTally], logger));
  stack.use(checkApplications(context));
  stack.use(catchUp(context, config.catchUpSeconds));
  stack.use(noticeDocuments(context));
  stack.use(deleteLeftovers(context));
  stack.use(removeLinks(context));
  stack.use(reencryptLinks(context));
  const server = stack.use(
    await createRpcServer({
      services: [...rpcServices(context), ...transport.services],
      host: config.host,
      port: config.rpcPort,
      audience: "kyc",
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
