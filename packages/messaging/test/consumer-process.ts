/** Runs a consumer as a process. Prints the address of its RPC server when it is ready. */
import { createOrm } from "@amana/database";
import { createRpcServer } from "@amana/rpc";
import { type Logger, readEnv, readLogLevel, runProcess } from "@amana/runtime";
import { consume, createTransport, eventRetrySeconds, readTransportOptions } from "../src/index.ts";
import { database, recordEffect, topic } from "./database.ts";

const readConfig = () =>
  readEnv((env) => ({
    logLevel: readLogLevel(env),
    databaseUrl: env.string("DATABASE_URL"),
    events: readTransportOptions(env, { emits: [], consumes: [topic] }),
    retrySeconds: env.seconds("EVENT_RETRY_SECONDS", eventRetrySeconds),
  }));

await runProcess("consumer", readConfig, startConsumer);

async function startConsumer(config: ReturnType<typeof readConfig>, logger: Logger): Promise<AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  const orm = await createOrm({ url: config.databaseUrl, ...database }, logger);
  stack.defer(() => orm.close());
  const transport = stack.use(await createTransport(config.events, { clientId: "consumer", logger }));
  stack.use(
    await consume(
      { topic, consumer: "tests", effect: recordEffect },
      { orm, transport, logger, retrySeconds: config.retrySeconds },
    ),
  );
  const server = await createRpcServer({
    services: transport.services,
    host: "127.0.0.1",
    port: 0,
    audience: "tests",
    callerKeys: [],
    logger,
  });
  stack.use(server);
  process.stdout.write(`${server.url}\n`);
  return stack;
}
