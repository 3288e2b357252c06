import type { FastifyInstance } from "fastify";
import { protocolRoutes } from "../protocol-routes.ts";
import type { Provider } from "../provider.ts";
import { creationRoutes } from "./create-session.ts";
import { refuse, refuseField } from "./errors.ts";
import { sessionRoutes, userRoutes } from "./session-routes.ts";
import { setupRoutes } from "./setup-routes.ts";

/** Simulates the calls of Didit's API v3 (docs.didit.me) that the kyc service uses. */
export async function diditApi(app: FastifyInstance, provider: Provider): Promise<void> {
  const { diditApiKey } = provider.config;
  const routes = protocolRoutes(app, provider, {
    dialect: "didit",
    // Didit responds with status 403, never with status 401.
    authenticate: ({ headers }, reply) =>
      headers["x-api-key"] === diditApiKey ? undefined : refuse(reply, 403, "You do not have permission to perform this action."),
    refuseUnknown: (reply) => refuse(reply, 404, "Not found."),
    refuse,
    refuseField,
    personalFields: ["contact_details", "expected_details"],
  });
  app.setNotFoundHandler((_request, reply) => reply.send(refuse(reply, 404, "Not found.")));
  creationRoutes(routes, provider);
  sessionRoutes(routes, provider);
  userRoutes(routes, provider);
  setupRoutes(app, routes, provider);
}
