import type { FastifyError, FastifyInstance, FastifyReply } from "fastify";

/**
 * Hides the token in the path of a verification link, because anyone with the token can submit
 * documents.
 */
const withoutLinkToken = (path: string) => path.replace(/^(\/verify|\/sandbox\/kyc)\/[^/]+/, "$1/[redacted]");

/** Logs each request without its query, because the query may contain credentials. */
export function logResponses(app: FastifyInstance): void {
  app.addHook("onResponse", async (request, reply) => {
    const path = withoutLinkToken(request.url.split("?", 1)[0] ?? "");
    request.log.info(
      { method: request.method, path, status: reply.statusCode, duration_ms: Math.round(reply.elapsedTime) },
      "request",
    );
  });
}

/** Sets the status and returns an error body. `message` must state the cause and the next step. */
export function refuse(reply: FastifyReply, status: number, error: string, message: string, more: object = {}): object {
  reply.code(status);
  return { error, message, ...more };
}

/** Responds to unknown paths and to errors of Fastify and of handlers. */
export function handleErrors(app: FastifyInstance): void {
  app.setNotFoundHandler((_request, reply) =>
    reply.send(
      refuse(reply, 404, "not_found", "The sandbox does not have this path. Open its first page, GET /, for all its functions."),
    ),
  );
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status < 500) return reply.send(refuse(reply, status, error.code ?? "bad_request", error.message));
    request.log.error({ err: error }, "request failed");
    return reply.send(refuse(reply, 500, "internal", "An internal error occurred. See the log of the sandbox."));
  });
}

/** Accepts an empty JSON body, which many HTTP libraries send with control calls without a body. */
export function acceptEmptyJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    // A vendor's signature covers the bytes of the body.
    Object.assign(request, { rawBody: String(body) });
    if (body === "") done(null, {});
    else parse(request, String(body), done);
  });
}
