import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { isDatabaseUnavailable } from "@amana/database";
import {
  type Caller,
  createCallerSigner,
  createRpcChannel,
  createRpcServer,
  type RpcChannel,
  type ServedService,
} from "@amana/rpc";
import { createLogger, uuidv7 } from "@amana/runtime";

const gatewayKeys = generateKeyPairSync("ed25519");
const kycKeys = generateKeyPairSync("ed25519");
const auditKeys = generateKeyPairSync("ed25519");
const privateKeyOf = (key: KeyObject) => key.export({ format: "der", type: "pkcs8" }).toString("base64");
const publicKeyOf = (key: KeyObject) => key.export({ format: "der", type: "spki" }).toString("base64");

/**
 * Signs caller tokens like the gateway. Services with `testRpcSettings` trust the key of this
 * signer.
 */
export const testSigner = createCallerSigner({ id: "test", privateKey: gatewayKeys.privateKey });

/** Settings of all services for signing keys and trusted keys. */
export const testRpcSettings = {
  CALLER_PRIVATE_KEY: `test:${privateKeyOf(gatewayKeys.privateKey)}`,
  GATEWAY_PUBLIC_KEYS: `test:${publicKeyOf(gatewayKeys.publicKey)}`,
  AUDIT_SIGNING_KEY: `test:${privateKeyOf(auditKeys.privateKey)}`,
  KYC_PUBLIC_KEYS: `test-kyc:${publicKeyOf(kycKeys.publicKey)}`,
};

/** Default timeout of a call. The usual default of 5 s is too short for a busy machine. */
const timeoutMs = 30_000;

/** Connects to a service as the gateway does, with a longer default timeout. */
export function connectForTest(urls: readonly string[], audience: string): RpcChannel {
  const channel = createRpcChannel({ urls, audience, signer: testSigner });
  return {
    call: (method, body, options) => channel.call(method, body, { timeoutMs, ...options }),
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  };
}

export const adminCaller: Caller = { role: "admin", keyId: "018f0000-0000-7000-8000-000000000001", keyPrefix: "ak_test" };

/** Returns a caller of the given business, or of a new business. */
export function aBusinessCaller(businessId: string = uuidv7()): Caller & { role: "business" } {
  return { role: "business", businessId, keyId: uuidv7(), keyPrefix: "sk_test_00000000" };
}

export interface TestService extends AsyncDisposable {
  readonly channel: RpcChannel;
  readonly url: string;
}

/** Serves RPCs on a loopback port and connects to them like the gateway. */
export async function startTestServer(services: readonly ServedService[], audience = "test"): Promise<TestService> {
  const server = await createRpcServer({
    services,
    host: "127.0.0.1",
    port: 0,
    audience,
    callerKeys: [{ id: "test", publicKey: gatewayKeys.publicKey, signsFor: "anyone" }],
    logger: createLogger("test", process.env["TEST_LOG_LEVEL"] ?? "silent"),
    isUnavailable: isDatabaseUnavailable,
  });
  const channel = connectForTest([server.url], audience);
  return {
    channel,
    url: server.url,
    async [Symbol.asyncDispose]() {
      await channel[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
