import { ProviderCallbackResult } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { setBounded } from "@amana/runtime";
import { callOf } from "../call.ts";
import type { App, Gateway } from "../gateway.ts";
import { readAnyBodies } from "../plugins/any-bodies.ts";
import { limitKeyless } from "../plugins/limit-rate.ts";
import { Problem } from "../problem.ts";
import { networkOf } from "../rate-limit/network.ts";

const bodyBytesMax = 256 * 1024;
/**
 * Maximum number of networks with a validly signed callback. These have their own bulkhead, so that
 * a flood of forged callbacks does not delay those of the provider.
 */
const provenMax = 100;
/** Kyc reads the state from the provider before the callback is acknowledged. */
const callbackTimeoutMs = 20_000;

/**
 * Receives callbacks of the verification provider, outside the public API. The body is forwarded
 * unchanged, because only kyc has the secrets to verify its signature.
 */
export async function kycCallbacks(app: App, gateway: Gateway): Promise<void> {
  const { rpc, limits } = gateway;
  app.addHook("onRequest", limitKeyless(gateway));
  // The signature covers the raw bytes, so the body is not decoded or parsed.
  readAnyBodies(app, gateway);

  app.post("/kyc", { bodyLimit: bodyBytesMax, schema: { hide: true } }, async (request, reply) => {
    const network = networkOf(request.ip);
    const { body } = request;
    const signature = request.headers["x-provider-signature"];
    const { result } = await rpc.kycApplications.receiveProviderCallback(
      { body: body instanceof Uint8Array ? body : new Uint8Array(), signature: typeof signature === "string" ? signature : "" },
      { ...callOf(request, reply, callbackTimeoutMs), ...(limits.proven.has(network) && { bulkhead: "provider" as const }) },
    );
    if (result !== ProviderCallbackResult.ACCEPTED) {
      const detail = "The callback has no valid signature of the verification provider, or its signature is too old.";
      throw new Problem(401, "invalid_signature", detail);
    }
    setBounded(limits.proven, network, true, provenMax);
    return reply.code(204).send();
  });
}
