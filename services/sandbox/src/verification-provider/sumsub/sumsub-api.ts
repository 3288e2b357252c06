import type { FastifyInstance } from "fastify";
import { protocolRoutes } from "../protocol-routes.ts";
import type { Provider } from "../provider.ts";
import { amlRoutes, applicantRoutes } from "./applicant-routes.ts";
import { creationRoutes } from "./create-applicant.ts";
import { errorCodes, refuse, refuseField } from "./errors.ts";
import { linkRoutes } from "./link-routes.ts";
import { setupRoutes } from "./setup-routes.ts";
import { isSigned } from "./signature.ts";

/** Simulates the calls of Sumsub's API (docs.sumsub.com) that the kyc service uses. */
export async function sumsubApi(app: FastifyInstance, provider: Provider): Promise<void> {
  const routes = protocolRoutes(app, provider, {
    dialect: "sumsub",
    authenticate: (request, reply) =>
      isSigned(request, provider.config) ? undefined : refuse(reply, 401, "Request signature mismatch", errorCodes.signature),
    refuseUnknown: (reply) => refuse(reply, 404, "Not found."),
    refuse,
    refuseField,
    personalFields: ["email", "phone", "fixedInfo", "note"],
  });
  app.setNotFoundHandler((_request, reply) => reply.send(refuse(reply, 404, "Not found.")));
  creationRoutes(routes, provider);
  linkRoutes(routes, provider);
  applicantRoutes(routes, provider);
  amlRoutes(routes, provider);
  setupRoutes(app, routes, provider);
}
