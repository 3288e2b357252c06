import { problemAdvice } from "./problem-catalogue.ts";

/** A place of a request at fault: a JSON pointer into the body, or a query parameter's name. */
export type FieldError = ({ pointer: string } | { parameter: string }) & { code: string; message: string };

/** A megabyte of wrong fields must not become a larger answer. */
const errorsMax = 100;

/** An answer that is not a success, as RFC 9457 describes it. Everything in it is public. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: readonly FieldError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    detail: string,
    more: { errors?: readonly FieldError[]; headers?: Record<string, string>; members?: Record<string, string> } = {},
  ) {
    super(detail);
    this.name = "Problem";
    this.status = status;
    this.code = code;
    this.errors = more.errors;
    this.headers = more.headers ?? {};
    this.members = more.members ?? {};
  }
}

/** A problem that is told as its page tells it. */
const known =
  (status: number, code: string, headers: Record<string, string> = {}) =>
  () =>
    new Problem(status, code, problemAdvice(code)?.[1] ?? "", { headers });

export const problems = {
  notFound: known(404, "not_found"),
  methodNotAllowed: (allow: readonly string[]) =>
    new Problem(405, "method_not_allowed", `This address answers ${allow.join(", ")}.`, { headers: { allow: allow.join(", ") } }),
  malformedRequest: known(400, "malformed_request"),
  expectationFailed: known(417, "expectation_failed"),
  requestTimeout: known(408, "request_timeout"),
  headersTooLarge: known(431, "headers_too_large"),
  bodyTooLarge: known(413, "body_too_large"),
  unsupportedMediaType: known(415, "unsupported_media_type"),
  invalidJson: (why: string) => new Problem(400, "invalid_json", why),
  invalidIdempotencyKey: known(400, "invalid_idempotency_key"),
  unavailable: known(503, "service_unavailable"),
  overloaded: known(503, "overloaded"),
  timedOut: (code = "upstream_timeout") => known(504, code)(),
  rateLimited: (headers: Record<string, string>) => known(429, "rate_limited", headers)(),
  internal: (requestId: string) =>
    new Problem(500, "internal_error", `Something went wrong on our side. Tell support the request id ${requestId}.`),
  adminRequired: known(403, "admin_required"),
  businessKeyRequired: known(403, "business_key_required"),
  validationFailed(found: readonly FieldError[]): Problem {
    const errors = found.slice(0, errorsMax);
    const [first] = errors;
    const code = errors.length === 1 && first?.code === "immutable_field" ? first.code : "validation_failed";
    const places = errors.slice(0, 5).map((error) => ("pointer" in error ? error.pointer : error.parameter));
    const more = errors.length > places.length ? " and others" : "";
    return new Problem(422, code, `Put right and send again: ${places.join(", ")}${more}.`, { errors });
  },
};

const challenge = { "www-authenticate": "Bearer" };
const invalidKey = (detail: string) => () => new Problem(401, "invalid_api_key", detail, { headers: challenge });

/** Why a key does not open the door. */
export const unauthorizedProblems = {
  missing: known(401, "missing_api_key", challenge),
  invalid: known(401, "invalid_api_key", challenge),
  otherScheme: invalidKey("Authorization takes one scheme here: Authorization: Bearer <key>."),
  conflicting: invalidKey("The headers carry different keys. Send one key, in one header."),
  revoked: known(401, "api_key_revoked", challenge),
  expired: known(401, "api_key_expired", challenge),
  businessPending: known(401, "business_pending", challenge),
  businessRejected: known(401, "business_rejected", challenge),
  businessDisabled: known(401, "business_disabled", challenge),
};
