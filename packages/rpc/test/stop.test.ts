import { HandOverService } from "@amana/contracts/messaging/v1/hand_over_service_pb";
import { createLogger, sleep } from "@amana/runtime";
import { expect, test } from "vitest";
import { createRpcChannel, createRpcClient, createRpcServer, noCaller, serve } from "../src/index.ts";

test("an RPC server that is stopped during a call completes the call, even if the call takes 12 seconds", async () => {
  const started = Promise.withResolvers<void>();
  const server = await createRpcServer({
    services: [
      serve(
        HandOverService,
        {
          async handOverMessages() {
            started.resolve();
            await sleep(12_000);
            return {};
          },
        },
        { requiresCallerToken: false },
      ),
    ],
    host: "127.0.0.1",
    port: 0,
    audience: "test",
    callerKeys: [],
    logger: createLogger("test", "silent"),
  });
  await using channel = createRpcChannel({ urls: [server.url], audience: "test" });
  const response = createRpcClient(HandOverService, channel).handOverMessages({}, { caller: noCaller, timeoutMs: 30_000 });
  await started.promise;
  await server[Symbol.asyncDispose]();
  await expect(response).resolves.toBeDefined();
});
