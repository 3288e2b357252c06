import type { FastifyInstance, FastifyReply } from "fastify";
import { isText, isWholeNumber } from "../checks.ts";
import { refuse } from "../edge.ts";
import { awaitsReview, cancel, isCancelable, review } from "./application.ts";
import { createApplication, readCreation } from "./create-application.ts";
import { type HandleApplication, type ProtocolRequest, protocolRoutes } from "./protocol-routes.ts";
import { objectWithLink, type Provider } from "./provider.ts";

const eventsMax = 500;

/**
 * Registers the provider's API, which the kyc service calls. Responses contain the whole
 * application.
 */
export function providerApi(app: FastifyInstance, provider: Provider): void {
  const { clock, applications, config } = provider;
  const { route, ofApplication } = protocolRoutes(app, provider, {
    dialect: "port",
    authenticate: ({ headers }, reply) =>
      headers.authorization === `Bearer ${config.kycProviderToken}`
        ? undefined
        : refuse(reply, 401, "unauthorized", "The bearer token is not the value of KYC_PROVIDER_TOKEN."),
    refuseUnknown: (reply) => refuse(reply, 404, "unknown_application", "There is no application with this provider_id."),
    refuse: (reply, status, message) => refuse(reply, status, "planted_fault", message),
    refuseField: (reply, _field, message) => refuse(reply, 422, "planted_fault", message, { problems: [message] }),
    personalFields: ["applicant_email", "applicant_phone"],
  });
  const applicationRoute = (method: "GET" | "POST", action: string, operation: string, handle: HandleApplication) =>
    route(method, `/v1/applications/:id${action}`, operation, ofApplication(handle));

  route("POST", "/v1/applications", "kyc_create", ({ body }, reply) => {
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

  applicationRoute("GET", "", "kyc_get", (application) => objectWithLink(provider, application));

  applicationRoute("POST", "/cancel", "kyc_cancel", (application, _request, reply) => {
    if (isCancelable(application)) {
      cancel(application, clock.nowMs());
      applications.save(application);
    } else reply.code(409);
    return objectWithLink(provider, application);
  });

  applicationRoute("POST", "/review", "kyc_review", (application, { body }, reply) => {
    const { outcome, reviewer, note } = body ?? {};
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

  route("GET", "/v1/events", undefined, (request, reply) => events(provider, request, reply));
}

/** Returns the events after a cursor, oldest first. */
function events({ callbacks }: Provider, { query }: ProtocolRequest, reply: FastifyReply): object {
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
