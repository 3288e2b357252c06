import { DomainError, type DomainErrorKind } from "@amana/rpc";
import type { Logger } from "@amana/runtime";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import { requestLogFields } from "./call.ts";
import { Problem, validationFailed } from "./problem.ts";
import { type ProblemCode, problemTitle } from "./problem-catalogue.ts";

export const statusByKind: Record<DomainErrorKind, number> = {
  not_found: 404,
  conflict: 409,
  invalid: 422,
  refused_upstream: 422,
  forbidden: 403,
  upstream_error: 502,
  unavailable: 503,
  outcome_unknown: 504,
};

/** Problem codes, by the code of the error that Fastify or Node throws. */
const frameworkProblems: Readonly<Record<string, ProblemCode>> = {
  FST_ERR_BAD_URL: "not_found",
  FST_ERR_MAX_PARAM_LENGTH: "not_found",
  FST_ERR_CTP_BODY_TOO_LARGE: "body_too_large",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "unsupported_media_type",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "malformed_request",
  ECONNRESET: "malformed_request",
};

/**
 * Returns the problem that the caller gets for an error, or undefined for a fault. Only this
 * function decides which details of an error are public.
 */
function toProblem(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (error instanceof DomainError) return fromRefusal(error);
  if (error instanceof ConnectError) {
    if (error.code === Code.DeadlineExceeded) return Problem.of("upstream_timeout");
    // During an upgrade, a replica of the previous version rejects a new RPC as unimplemented. A
    // retry can reach a replica that has the RPC.
    if (error.code === Code.Unavailable || error.code === Code.Unimplemented) return Problem.of("service_unavailable");
    return undefined;
  }
  const code = frameworkProblems[(error as { code?: string }).code ?? ""];
  return code && Problem.of(code);
}

function fromRefusal(error: DomainError): Problem {
  // Ids of other businesses, unknown ids and malformed ids get the same problem.
  if (error.kind === "not_found" && error.code === "not_found") return Problem.of("not_found");
  const status = statusByKind[error.kind];
  const { pointer, code, message } = error;
  if (code === "unsupported_by_provider") return validationFailed([{ pointer, code, message }]);
  return new Problem(status, code, message, {
    members: error.members,
    ...(pointer === "" ? {} : { errors: [{ pointer, code, message }] }),
  });
}

/** Returns the response headers of a problem. Temporary problems have a Retry-After header. */
export function headersOf(problem: Problem): Readonly<Record<string, string>> {
  const seconds = retryAfterSeconds(problem);
  return seconds === undefined ? problem.headers : { "retry-after": String(seconds), ...problem.headers };
}

function retryAfterSeconds({ status, code }: Problem): number | undefined {
  // After some failures, the payments service rejects the same receipt for ten minutes.
  if (code === "receipt_not_rendered") return 600;
  if (status === 503) return 1;
  // A retry after less than five seconds would usually fail again, because services need some
  // seconds to reconcile an unknown outcome.
  return status === 504 || (status === 409 && code.endsWith("_in_progress")) ? 5 : undefined;
}

/** Returns the problem document (RFC 9457) as JSON text. */
export function problemDocument(problem: Problem, requestId: string): string {
  return JSON.stringify({
    ...problem.members,
    type: `/problems/${problem.code}`,
    title: problemTitle(problem.code),
    status: problem.status,
    detail: problem.message,
    instance: `urn:amana:request:${requestId}`,
    code: problem.code,
    request_id: requestId,
    errors: problem.errors,
  });
}

/**
 * Returns the problem for an error. For a fault, logs the error and returns the problem
 * `internal_error`.
 */
export function problemOf(error: unknown, request: FastifyRequest, logger: Logger): Problem {
  const problem = toProblem(error);
  if (problem) return problem;
  logger.error({ err: error, ...requestLogFields(request), route: request.routeOptions.url }, "request failed");
  const detail = `An internal error occurred. Send the request id ${request.id} to support.`;
  return Problem.of("internal_error", { detail });
}

export function setRetryAfter(reply: FastifyReply, problem: Problem): void {
  const { "retry-after": retryAfter } = headersOf(problem);
  if (retryAfter) reply.header("retry-after", retryAfter);
}

/** Maximum length of a path that an error page repeats in its links. */
const repeatedPathMax = 200;

/**
 * Returns the path of a request, for the links of an error page. Returns `fallback` for a longer
 * path than pages have, so that a request of a few kilobytes does not cause a large page.
 */
export function pathOf({ url }: FastifyRequest, fallback: string): string {
  const [path = fallback] = url.split("?", 1);
  return path.length > repeatedPathMax ? fallback : path;
}

/** Creates an error handler that sends a page with `sendPage` instead of a problem document. */
export const createErrorPageHandler =
  (logger: Logger, sendPage: (request: FastifyRequest, reply: FastifyReply, problem: Problem) => FastifyReply) =>
  (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const problem = problemOf(error, request, logger);
    reply.removeHeader("connection");
    setRetryAfter(reply, problem);
    return sendPage(request, reply, problem);
  };

/** Creates Fastify's error handler, which sends problem documents. */
export const createErrorHandler = (logger: Logger) => (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
  const problem = problemOf(error, request, logger);
  // Fastify would close the connection after an invalid body. The gateway drops the rest of the
  // body and keeps the connection, so that responses to pipelined requests are not lost.
  if (reply.raw.shouldKeepAlive) reply.removeHeader("connection");
  return (
    reply
      .code(problem.status)
      .headers(headersOf(problem))
      .type("application/problem+json")
      // Sends a Buffer, because Fastify adds a charset to the media type of a string. This media
      // type has no charset.
      .send(Buffer.from(problemDocument(problem, request.id)))
  );
};
