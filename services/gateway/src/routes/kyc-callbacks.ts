import { ProviderCallbackResult } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import type { FastifyRequest } from "fastify";
import { callOf } from "../call.ts";
import type { App, Gateway } from "../gateway.ts";
import { limitKeyless } from "../plugins/limit-rate.ts";
import { Problem } from "../problems.ts";
import { networkOf } from "../rate-limit/network.ts";

const bodyBytesMax = 256 * 1024;
/** The provider is asked what really happened before the callback is acknowledged. */
const callbackTimeoutMs = 20_000;

/**
 * Where the verification provider calls back, on the API's port but outside the API. The body goes on byte for byte:
 * the kyc service alone knows the secrets it is signed with.
 */
export const kycCallbacks =
  (gateway: Gateway) =>
  async (app: App): Promise<void> => {
    const { rpc, limits } = gateway;
    app.addHook("onRequest", limitKeyless(gateway));
    // The signature covers bytes, so no type or encoding is read into them.
    app.addHook("onRequest", (request, _reply, done) => {
      delete request.raw.headers["content-type"];
      done();
    });
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: bodyBytesMax }, (_request, bytes, done) => done(null, bytes));
    app.setValidatorCompiler(() => (value: unknown) => ({ value }));

    app.post("/kyc", { schema: { hide: true } }, async (request, reply) => {
      const network = networkOf(request.ip);
      const signature = request.headers["x-provider-signature"];
      const { result } = await rpc.kycApplications.receiveProviderCallback(
        { body: bytesOf(request), signature: typeof signature === "string" ? signature : "" },
        { ...callOf(request, reply, callbackTimeoutMs), ...(limits.proven.has(network) && { lane: "provider" as const }) },
      );
      if (result !== ProviderCallbackResult.ACCEPTED) throw invalidSignature();
      limits.proven.add(network);
      return reply.code(204).send();
    });
  };

const bytesOf = ({ body }: FastifyRequest): Uint8Array => (body instanceof Uint8Array ? body : new Uint8Array());

const invalidSignature = () =>
  new Problem(401, "invalid_signature", "The callback is not signed by the verification provider, or was signed too long ago.");
