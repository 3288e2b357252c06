import type { IncomingMessage } from "node:http";
import { uuidv7 } from "@amana/runtime";
import type { FastifyRequest } from "fastify";
import type { App } from "../gateway.ts";
import { Problem } from "../problem.ts";

export const bodyBytesMax = 1024 * 1024;

const requestIdPattern = /^[A-Za-z0-9_-]{8,64}$/;

/** Returns the caller's request id if it has the permitted form, otherwise a new id. */
export function requestIdOf(raw: Pick<IncomingMessage, "headers">): string {
  const header = raw.headers["x-request-id"];
  return typeof header === "string" && requestIdPattern.test(header) ? header : uuidv7();
}

/**
 * Sets the headers of every response. Before the key is checked, checks the path (status 404), the
 * method (status 405), the Host header (status 400) and the Content-Length (status 413) in this
 * order.
 */
export function guardEdge(app: App): void {
  const routes = collectRoutes(app);
  app.addHook("onRequest", (request, reply, done) => {
    const { headers } = request.raw;
    reply.header("x-request-id", request.id);
    reply.header("x-content-type-options", "nosniff");
    reply.header("cache-control", "no-store");
    if (request.is404) return done(createRouteProblem(request, routes));
    if (headers.host === undefined && request.raw.httpVersion === "1.1") return done(Problem.of("malformed_request"));
    const length = headers["content-length"];
    if (length !== undefined && Number(length) > request.routeOptions.bodyLimit) return done(Problem.of("body_too_large"));
    done();
  });
}

interface Route {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/** Collects the routes that are registered from now on, by their path template. */
function collectRoutes(app: App): Map<string, Route> {
  const routes = new Map<string, Route>();
  app.addHook("onRoute", ({ url, method }) => {
    let route = routes.get(url);
    if (!route) {
      route = { pattern: new RegExp(`^${url.replaceAll(".", "\\.").replaceAll(/:\w+/g, "[^/]+")}$`), methods: new Set() };
      routes.set(url, route);
    }
    for (const name of [method].flat()) route.methods.add(name);
  });
  return routes;
}

function createRouteProblem(request: FastifyRequest, routes: Map<string, Route>) {
  const [path = ""] = request.url.split("?", 1);
  // A fixed path takes precedence over a path with an id. For example, `/clients/person` does not
  // support GET, although `/clients/:id` does.
  const fixedRoute = routes.get(path);
  const matchingRoutes = fixedRoute ? [fixedRoute] : [...routes.values()].filter(({ pattern }) => pattern.test(path));
  const methods = new Set(matchingRoutes.flatMap((route) => [...route.methods]));
  if (methods.size === 0) return Problem.of("not_found");
  const allow = [...methods].sort().join(", ");
  return Problem.of("method_not_allowed", { detail: `This path supports ${allow}.`, headers: { allow } });
}
