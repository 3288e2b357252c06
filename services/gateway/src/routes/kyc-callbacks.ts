import type { IncomingHttpHeaders } from "node:http";
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
 * Maximum number of stored networks that sent a callback with a valid signature. Callbacks from
 * these networks have a separate bulkhead, so that a flood of forged callbacks does not delay them.
 */
const provenMax = 100;
/** Settings for the callbacks of one verification provider. */
interface Source {
  readonly name: string;
  readonly bodyBytesMax: number;
  /** Headers that contain the signature. The gateway forwards no other header to kyc. */
  readonly headers: readonly string[];
  /**
   * Timeout of the RPC. Kyc may read the state from the provider before it acknowledges the
   * callback.
   */
  readonly timeoutMs: number;
}

/** Verification providers, by the last part of their callback path. */
const sources: Readonly<Record<string, Source>> = {
  "/kyc": { name: "port", bodyBytesMax, headers: ["x-provider-signature"], timeoutMs: 20_000 },
  // The vendors Didit and Sumsub wait at most five seconds for the response.
  "/kyc/didit": {
    name: "didit",
    bodyBytesMax: 2 * 1024 * 1024,
    headers: ["x-signature", "x-signature-previous"],
    timeoutMs: 4_000,
  },
  "/kyc/sumsub": { name: "sumsub", bodyBytesMax, headers: ["x-payload-digest", "x-payload-digest-alg"], timeoutMs: 4_000 },
};

/**
 * Receives callbacks of the verification provider, outside the public API. The body is forwarded
 * unchanged, because only kyc has the secrets to verify its signature.
 */
export async function kycCallbacks(app: App, gateway: Gateway): Promise<void> {
  const { rpc, limits } = gateway;
  app.addHook("onRequest", limitKeyless(gateway));
  // The signature covers the raw bytes, so the body is not decoded or parsed.
  readAnyBodies(app, gateway);

  for (const [path, source] of Object.entries(sources)) {
    app.post(path, { bodyLimit: source.bodyBytesMax }, async (request, reply) => {
      const network = networkOf(request.ip);
      const { body } = request;
      const headers = pickHeaders(request.headers, source.headers);
      const { result } = await rpc.kycApplications.receiveProviderCallback(
        {
          body: body instanceof Uint8Array ? body : new Uint8Array(),
          // Kyc replicas of the previous version read only this field.
          signature: headers["x-provider-signature"] ?? "",
          provider: source.name,
          headers,
        },
        { ...callOf(request, reply, source.timeoutMs), ...(limits.proven.has(network) && { bulkhead: "provider" as const }) },
      );
      if (result === ProviderCallbackResult.UNKNOWN_PROVIDER) throw Problem.of("not_found");
      if (result !== ProviderCallbackResult.ACCEPTED) {
        const detail = "The callback has no valid signature of the verification provider, or its signature is too old.";
        throw new Problem(401, "invalid_signature", detail);
      }
      setBounded(limits.proven, network, true, provenMax);
      return reply.code(204).send();
    });
  }
}

const pickHeaders = (headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name];
      return typeof value === "string" ? [[name, value]] : [];
    }),
  );
