import type { AddressInfo } from "node:net";
import type { Logger } from "@amana/runtime";
import formbody from "@fastify/formbody";
import { type FastifyBaseLogger, fastify, LogController } from "fastify";
import { cardProcessor } from "./card-processor/card-processor.ts";
import { createClock } from "./clock.ts";
import type { Config } from "./config.ts";
import type { Context } from "./context.ts";
import { controlCalls } from "./control-calls.ts";
import { openDatabase } from "./database.ts";
import { acceptEmptyJson, handleErrors, logResponses } from "./edge.ts";
import { createFaults } from "./faults.ts";
import { firstPage } from "./first-page/first-page.ts";
import { mailPages } from "./mail/mail-pages.ts";
import { openMailbox } from "./mail/mailbox.ts";
import { assets } from "./pages/assets.ts";
import { verificationProvider } from "./verification-provider/verification-provider.ts";

export type Sandbox = Awaited<ReturnType<typeof createSandbox>>;

/** Starts the sandbox. Listens before it returns, because the URLs of pages contain the port. */
export async function createSandbox(config: Config, logger: Logger) {
  const database = openDatabase(config.dataDir);
  const app = fastify({
    loggerInstance: logger as FastifyBaseLogger,
    // Fastify's own request log would contain the query, and thus the credentials of a GET call.
    logController: new LogController({ disableRequestLogging: true }),
    // Some faults keep connections open. The shutdown must not wait for these connections.
    forceCloseConnections: true,
    bodyLimit: 64 * 1024,
  });
  const publicUrl = () => config.publicUrl ?? `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;

  logResponses(app);
  handleErrors(app);
  app.register(formbody);
  acceptEmptyJson(app);
  app.register(assets);
  app.get("/healthz", () => ({ status: "ok" }));
  const context: Context = { config, database, clock: createClock(database), faults: createFaults(), publicUrl };
  const mailbox = await openMailbox({ host: config.host, port: config.smtpPort }, context.clock);
  app.register(firstPage, context);
  app.register(mailPages, mailbox);
  app.register(controlCalls, context);
  app.register(cardProcessor, context);
  app.register(verificationProvider, context);

  await app.listen({ host: config.host, port: config.port });
  return {
    app,
    url: publicUrl(),
    smtpPort: mailbox.port,
    async [Symbol.asyncDispose]() {
      await app.close();
      await mailbox[Symbol.asyncDispose]();
      database.close();
    },
  };
}
