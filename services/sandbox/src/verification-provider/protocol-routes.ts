import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Body, isObject, isText } from "../checks.ts";
import { respondWithFault } from "../faulty-response.ts";
import type { Application } from "./application.ts";
import type { Dialect } from "./dialect.ts";
import { leakedApplicant } from "./leak.ts";
import type { Provider } from "./provider.ts";

export interface ProtocolRoute {
  Params: { id?: string; reference?: string };
  Querystring: Record<string, string | undefined>;
  Body: Body | null;
}

export type ProtocolRequest = FastifyRequest<ProtocolRoute> & { readonly rawBody?: string };

export type Handle = (request: ProtocolRequest, reply: FastifyReply) => object;

export type HandleApplication = (application: Application, request: ProtocolRequest, reply: FastifyReply) => object;

/** Differences between Amana's own protocol and the APIs of the vendors. */
export interface Protocol {
  readonly dialect: Dialect;
  /** Returns an error body, and sets its status, for a request without valid credentials. */
  authenticate(request: ProtocolRequest, reply: FastifyReply): object | undefined;
  /** Sets the status and returns the API's error body for an unknown application. */
  refuseUnknown(reply: FastifyReply): object;
  /** Sets the status and returns the API's error body. */
  refuse(reply: FastifyReply, status: number, message: string): object;
  /** Sets the status and returns the API's error body for an invalid field. */
  refuseField(reply: FastifyReply, field: string, message: string): object;
  /**
   * Names of body fields with personal data. Their values are not recorded. A field `profile` is
   * not recorded at all.
   */
  readonly personalFields: readonly string[];
}

export type ProtocolRoutes = ReturnType<typeof protocolRoutes>;

/**
 * Returns functions that register calls of an API. Each call is authenticated and recorded.
 * A fault of the call's operation can change the response.
 */
export function protocolRoutes(app: FastifyInstance, { applications, faults, calls }: Provider, protocol: Protocol) {
  const { authenticate, refuse, refuseField, refuseUnknown, personalFields } = protocol;

  const record = (operation: string, { body, params, query }: ProtocolRequest) => {
    const { profile: _profile, ...fields } = isObject(body) ? body : {};
    const { vendor_data, externalUserId, userId, reference } = fields;
    const parameters = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, personalFields.includes(name) ? "received, not kept" : value]),
    );
    const names = [params.reference, query["vendor_data"], vendor_data, externalUserId, userId, reference];
    calls.record(operation, { ...parameters, ...query }, { id: params.id, reference: names.find(isText) });
  };

  /** Registers a call. Without an operation, the call is not recorded and no fault applies. */
  const route = (
    method: "GET" | "POST" | "PATCH" | "DELETE",
    url: string,
    operation: string | undefined,
    handle: Handle,
  ): void => {
    app.route<ProtocolRoute>({
      method,
      url,
      handler(request, reply) {
        const effect = () => authenticate(request, reply) ?? handle(request, reply);
        if (!operation) return effect();
        record(operation, request);
        const mode = faults.consume(operation);
        const { name, value } = mode;
        if (name === "leak") return { ...effect(), ...leakedApplicant(value) };
        if (name === "leak_error") {
          return { ...refuseField(reply, "vendor_data", `${value} is invalid.`), ...leakedApplicant(value) };
        }
        return respondWithFault(reply, mode, {
          effect,
          refusal: (status) => refuse(reply, Number(status), "A tester set this error with PUT /sandbox/faults."),
        });
      },
    });
  };

  /**
   * Returns a handler for the application whose id is in the path. If there is no such application,
   * the handler responds with `refuseUnknown`.
   */
  const ofApplication =
    (handle: HandleApplication, isShown: (application: Application) => boolean = () => true): Handle =>
    (request, reply) => {
      const application = applications.byProviderId(request.params.id ?? "");
      const isFound = application?.dialect === protocol.dialect && isShown(application);
      return isFound ? handle(application, request, reply) : refuseUnknown(reply);
    };

  return { route, ofApplication, refuse, refuseField };
}

/** Returns the first field of the body that the simulated vendor does not support. */
export const unknownField = (body: unknown, known: readonly string[]): string | undefined =>
  isObject(body) ? Object.keys(body).find((name) => !known.includes(name)) : undefined;
