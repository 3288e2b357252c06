import { DomainError, type DomainErrorKind } from "@amana/rpc";
import type { Logger } from "@amana/runtime";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import { aboutRequest } from "./call.ts";
import { Problem } from "./problem.ts";
import { type ProblemCode, problemTitle } from "./problem-catalogue.ts";

export const statusOf: Record<DomainErrorKind, number> = {
  not_found: 404,
  conflict: 409,
  invalid: 422,
  refused_upstream: 422,
  forbidden: 403,
  upstream_error: 502,
  unavailable: 503,
  outcome_unknown: 504,
};

/** What Fastify itself refuses. */
const frameworkProblems: Readonly<Record<string, ProblemCode>> = {
  FST_ERR_BAD_URL: "not_found",
  FST_ERR_MAX_PARAM_LENGTH: "not_found",
  FST_ERR_CTP_BODY_TOO_LARGE: "body_too_large",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "unsupported_media_type",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "malformed_request",
  ECONNRESET: "malformed_request",
};

/** The one place that decides what the outside sees of an error. Undefined for faults. */
function toProblem(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (error instanceof DomainError) return fromRefusal(error);
  if (error instanceof ConnectError) {
    if (error.code === Code.DeadlineExceeded) return Problem.of("upstream_timeout");
    // A replica of the version before does not know what is new: another one will.
    if (error.code === Code.Unavailable || error.code === Code.Unimplemented) return Problem.of("service_unavailable");
    return undefined;
  }
  const code = frameworkProblems[(error as { code?: string }).code ?? ""];
  return code && Problem.of(code);
}

function fromRefusal(error: DomainError): Problem {
  // One text for ids of others, ids of nothing and ids that are none.
  if (error.kind === "not_found" && error.code === "not_found") return Problem.of("not_found");
  const status = statusOf[error.kind];
  const { pointer, code, message } = error;
  return new Problem(status, code, message, {
    members: error.members,
    ...(pointer === "" ? {} : { errors: [{ pointer, code, message }] }),
  });
}

/** The headers of a problem's answer. Whatever passes by itself says when to come back. */
export function headersOf(problem: Problem): Readonly<Record<string, string>> {
  const seconds = retryAfterSeconds(problem);
  return seconds === undefined ? problem.headers : { "retry-after": String(seconds), ...problem.headers };
}

function retryAfterSeconds({ status, code }: Problem): number | undefined {
  if (status === 503) return 1;
  // Outcomes are looked up first after five seconds.
  return status === 504 || (status === 409 && code.endsWith("_in_progress")) ? 5 : undefined;
}

/** The document of RFC 9457, as JSON text. */
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

/** The problem an error is, with faults logged once and shown as internal. */
export function problemOf(error: unknown, request: FastifyRequest, logger: Logger): Problem {
  const problem = toProblem(error);
  if (problem) return problem;
  logger.error({ err: error, ...aboutRequest(request), route: request.routeOptions.url }, "a request failed");
  const detail = `Something went wrong on our side. Tell support the request id ${request.id}.`;
  return Problem.of("internal_error", { detail });
}

/** Fastify's error handler for everything that answers with problem documents. */
export const answerWithProblem = (logger: Logger) => (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
  const problem = problemOf(error, request, logger);
  // Fastify would close after a bad body; its rest is dropped instead, and no answer is lost.
  if (reply.raw.shouldKeepAlive) reply.removeHeader("connection");
  return (
    reply
      .code(problem.status)
      .headers(headersOf(problem))
      .type("application/problem+json")
      // As bytes: Fastify adds a charset to texts, which the media type does not have.
      .send(Buffer.from(problemDocument(problem, request.id)))
  );
};
