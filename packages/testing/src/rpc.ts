import { isDatabaseUnavailable } from "@amana/database";
import { type Caller, createRpcChannel, createRpcServer, type RpcChannel, type ServedService } from "@amana/rpc";
import { createLogger, uuidv7 } from "@amana/runtime";

/** The secret of RPC servers and clients in tests. */
export const testSecret: Uint8Array = Buffer.alloc(32, 1);

export const adminCaller: Caller = { role: "admin", keyId: "018f0000-0000-7000-8000-000000000001", keyPrefix: "ak_test" };

/** A caller of a fresh business. */
export function aBusinessCaller(businessId: string = uuidv7()): Caller & { role: "business" } {
  return { role: "business", businessId, keyId: uuidv7(), keyPrefix: "sk_test_00000000" };
}

export interface TestService extends AsyncDisposable {
  readonly channel: RpcChannel;
  readonly url: string;
}

/** Serves RPCs on a loopback port and connects to them, so that tests use the service as the gateway does. */
export async function startTestServer(services: readonly ServedService[]): Promise<TestService> {
  const server = await createRpcServer({
    services,
    host: "127.0.0.1",
    port: 0,
    secret: testSecret,
    logger: createLogger("test", process.env["TEST_LOG_LEVEL"] ?? "silent"),
    isUnavailable: isDatabaseUnavailable,
  });
  const channel = createRpcChannel({ urls: [server.url], secret: testSecret });
  return {
    channel,
    url: server.url,
    async [Symbol.asyncDispose]() {
      await channel[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
