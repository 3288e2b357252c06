import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Body, isObject } from "../checks.ts";
import { respondWithFault } from "../faulty-response.ts";
import { leakedApplicant } from "./leak.ts";
import type { Provider } from "./provider.ts";

export interface VendorRoute {
  Params: { id?: string; reference?: string };
  Querystring: Record<string, string | undefined>;
  Body: Body | null;
}

export type VendorRequest = FastifyRequest<VendorRoute> & { readonly rawBody?: string };

interface Vendor {
  /** Returns an error body, and sets its status, for a request without valid credentials. */
  authenticate(request: VendorRequest, reply: FastifyReply): object | undefined;
  /** Sets the status and returns the vendor's error body for a fault. */
  refuse(reply: FastifyReply, status: number, message: string): object;
  /** Names of body fields with personal data. The record of a call contains only their names. */
  readonly personalFields: readonly string[];
}

/** Returns the body: an object, or an empty text for a response without a body. */
type Handle = (request: VendorRequest, reply: FastifyReply) => object | string;

/**
 * Returns a function that registers a call of a vendor's API, which is authenticated, recorded and
 * subject to the faults of its operation. Without an operation, no fault applies.
 */
export function vendorRoutes(app: FastifyInstance, { faults, calls }: Provider, vendor: Vendor) {
  return (method: "GET" | "POST" | "PATCH" | "DELETE", url: string, operation: string | undefined, handle: Handle) =>
    app.route<VendorRoute>({
      method,
      url,
      handler(request, reply) {
        const body = isObject(request.body) ? request.body : {};
        const parameters = Object.fromEntries(
          Object.entries(body).map(([name, value]) => [
            name,
            vendor.personalFields.includes(name) ? "received, not kept" : value,
          ]),
        );
        const reference = body["vendor_data"] ?? body["externalUserId"] ?? body["userId"];
        const resource = { id: request.params.id, ...(typeof reference === "string" && { reference }) };
        if (operation) calls.record(operation, { ...parameters, ...request.query }, resource);
        const effect = () => (vendor.authenticate(request, reply) ?? handle(request, reply)) as object;
        if (!operation) return reply.send(effect());
        const mode = faults.consume(operation);
        if (mode.name === "leak") return { ...effect(), ...leakedApplicant(mode.value) };
        if (mode.name === "leak_error") return { ...vendor.refuse(reply, 400, mode.value), ...leakedApplicant(mode.value) };
        return respondWithFault(reply, mode, {
          effect,
          refusal: (status) => vendor.refuse(reply, Number(status), "planted fault"),
        });
      },
    });
}
