import type { FastifyError, FastifyInstance, FastifyReply } from "fastify";

/** The last part of a verification link lets anyone who reads it submit documents. */
const withoutLinkToken = (path: string) => path.replace(/^(\/verify|\/sandbox\/kyc)\/[^/]+/, "$1/[redacted]");

/** One line per answer, with the path only: a query may carry credentials. */
export function logAnswers(app: FastifyInstance): void {
  app.addHook("onResponse", async (request, reply) => {
    const path = withoutLinkToken(request.url.split("?", 1)[0] ?? "");
    request.log.info(
      { method: request.method, path, status: reply.statusCode, duration_ms: Math.round(reply.elapsedTime) },
      "answered",
    );
  });
}

/** The body of a refusal: what is wrong, and what to do about it. */
export function refuse(reply: FastifyReply, status: number, error: string, message: string, more: object = {}): object {
  reply.code(status);
  return { error, message, ...more };
}

export function refuseUnknownPaths(app: FastifyInstance): void {
  app.setNotFoundHandler((_request, reply) =>
    reply.send(
      refuse(reply, 404, "not_found", "The sandbox has nothing at this path. Its first page, GET /, shows what it can do."),
    ),
  );
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status < 500) return reply.send(refuse(reply, status, error.code ?? "bad_request", error.message));
    request.log.error({ err: error }, "fault");
    return reply.send(refuse(reply, 500, "internal", "The sandbox failed. Its log says why."));
  });
}

/** Many clients send JSON with nothing in it to control calls that need no body, such as cancel. */
export function acceptEmptyJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    if (body === "") done(null, {});
    else parse(request, String(body), done);
  });
}
