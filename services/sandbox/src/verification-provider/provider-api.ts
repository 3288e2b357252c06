import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Body, isText, isWholeNumber } from "../checks.ts";
import { refuse } from "../edge.ts";
import { respondWithFault } from "../faulty-response.ts";
import { type Application, awaitsReview, cancel, isCancelable, review } from "./application.ts";
import { createApplication, readCreation } from "./create-application.ts";
import { leakedApplicant } from "./leak.ts";
import { objectWithLink, type Provider } from "./provider.ts";

interface ApiRoute {
  Params: { providerId?: string };
  Querystring: { after?: string; limit?: string };
  Body: Body | null;
}

type ApiRequest = FastifyRequest<ApiRoute>;

/**
 * Body fields with personal data of the applicant. The record of a call contains only their names.
 */
const applicantFields = ["applicant_email", "applicant_phone"];

const eventsMax = 500;

/**
 * Registers the provider's API, which the kyc service calls. Responses contain the whole
 * application.
 */
export function providerApi(app: FastifyInstance, provider: Provider): void {
  const { clock, applications } = provider;
  const serve = createRegistrar(app, provider);
  type Handle = (application: Application, reply: FastifyReply, body: Body) => object;
  const serveApplication = (method: "GET" | "POST", action: string, operation: string, handle: Handle) =>
    serve(method, `/:providerId${action}`, operation, ({ params, body }, reply) => {
      const application = applications.byProviderId(params.providerId ?? "");
      return application
        ? handle(application, reply, body ?? {})
        : refuse(reply, 404, "unknown_application", "There is no application with this provider_id.");
    });

  serve("POST", "", "kyc_create", ({ body }, reply) => {
    const creation = readCreation(body ?? {});
    if ("problems" in creation) {
      return refuse(reply, 422, "invalid_request", "Some fields are invalid; see problems.", creation);
    }
    const existing = applications.byReference(creation.reference);
    if (existing) return objectWithLink(provider, existing);
    const application = createApplication(creation, clock.nowMs());
    applications.save(application);
    reply.code(201);
    return objectWithLink(provider, application);
  });

  serveApplication("GET", "", "kyc_get", (application) => objectWithLink(provider, application));

  serveApplication("POST", "/cancel", "kyc_cancel", (application, reply) => {
    if (isCancelable(application)) {
      cancel(application, clock.nowMs());
      applications.save(application);
    } else reply.code(409);
    return objectWithLink(provider, application);
  });

  serveApplication("POST", "/review", "kyc_review", (application, reply, { outcome, reviewer, note }) => {
    if (outcome !== "APPROVED" && outcome !== "REJECTED") {
      return refuse(reply, 422, "invalid_request", "outcome must be APPROVED or REJECTED.");
    }
    if (!isText(reviewer) || !isText(note)) {
      return refuse(reply, 422, "invalid_request", "reviewer and note must be strings.");
    }
    if (awaitsReview(application)) {
      review(application, outcome, clock.nowMs());
      applications.save(application);
    } else reply.code(409);
    return objectWithLink(provider, application);
  });

  app.get<ApiRoute>(
    "/v1/events",
    (request, reply) => refuseWithoutToken(provider, request, reply) ?? events(provider, request, reply),
  );
}

/** Returns the events after a cursor, oldest first. */
function events({ callbacks }: Provider, { query }: ApiRequest, reply: FastifyReply): object {
  const { after = "0", limit = "100" } = query;
  if (!/^\d{1,15}$/.test(after) || !/^\d{1,3}$/.test(limit) || !isWholeNumber(Number(limit), 1, eventsMax)) {
    const message = `after must be a cursor of an earlier response, and limit must be a whole number from 1 to ${eventsMax}.`;
    return refuse(reply, 422, "invalid_request", message);
  }
  const page = callbacks.eventsAfter(Number(after), Number(limit));
  return {
    events: page.map(({ id, body }) => ({ cursor: String(id), ...JSON.parse(body) })),
    // Cursor for the next call. The cursor stays the same if there are no new events.
    cursor: String(page.at(-1)?.id ?? after),
  };
}

/**
 * Creates a function that registers a call. Each call is recorded and authenticated, and a fault
 * can change its response.
 */
function createRegistrar(app: FastifyInstance, provider: Provider) {
  const { faults, calls } = provider;
  type Handle = (request: ApiRequest, reply: FastifyReply) => object;
  return (method: "GET" | "POST", path: string, operation: string, handle: Handle) =>
    app.route<ApiRoute>({
      method,
      url: `/v1/applications${path}`,
      handler(request, reply) {
        const { providerId: id } = request.params;
        const { profile: _profile, ...parameters }: Record<string, unknown> = request.body ?? {};
        for (const name of applicantFields) if (name in parameters) parameters[name] = "received, not kept";
        const { reference } = parameters;
        calls.record(operation, parameters, { id, ...(isText(reference) && { reference }) });

        const effect = () => refuseWithoutToken(provider, request, reply) ?? handle(request, reply);
        const mode = faults.consume(operation);
        const refuseByFault = (status: number, message: string, details?: object) =>
          refuse(reply, status, "planted_fault", message, details);
        if (mode.name === "leak") return { ...effect(), ...leakedApplicant(mode.value) };
        if (mode.name === "leak_error") {
          const message = `${mode.value} is invalid.`;
          return refuseByFault(422, message, { problems: [message], ...leakedApplicant(mode.value) });
        }
        const message = "A tester set this error with PUT /sandbox/faults.";
        return respondWithFault(reply, mode, { effect, refusal: (status) => refuseByFault(Number(status), message) });
      },
    });
}

/** Returns an error with status 401 if the bearer token is wrong, and otherwise undefined. */
function refuseWithoutToken({ config }: Provider, { headers }: ApiRequest, reply: FastifyReply): object | undefined {
  if (headers.authorization === `Bearer ${config.kycProviderToken}`) return undefined;
  return refuse(reply, 401, "unauthorized", "The bearer token is not the value of KYC_PROVIDER_TOKEN.");
}
