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
 * Networks that signed callbacks came from. A flood of forged ones shares limits and connections
 * with none of them, and nobody gets in there without the provider's secret.
 */
const provenMax = 100;
/** The provider is asked what really happened before the callback is acknowledged. */
const callbackTimeoutMs = 20_000;

/**
 * Where the verification provider calls back, on the API's port but outside the API. The body goes
 * on byte for byte: the kyc service alone knows the secrets it is signed with.
 */
export async function kycCallbacks(app: App, gateway: Gateway): Promise<void> {
  const { rpc, limits } = gateway;
  app.addHook("onRequest", limitKeyless(gateway));
  // The signature covers bytes, so no type or encoding is read into them.
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
      const detail = "The callback is not signed by the verification provider, or was signed too long ago.";
      throw new Problem(401, "invalid_signature", detail);
    }
    setBounded(limits.proven, network, true, provenMax);
    return reply.code(204).send();
  });
}
