/** One place of a request at fault: a JSON pointer into the body, or the name of a query parameter. */
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

export const problems = {
  notFound: () =>
    new Problem(404, "not_found", "There is nothing at this address that your key may see. Check the path and the id."),
  methodNotAllowed: (allow: readonly string[]) =>
    new Problem(405, "method_not_allowed", `This address answers ${allow.join(", ")}.`, { headers: { allow: allow.join(", ") } }),
  malformedRequest: () =>
    new Problem(400, "malformed_request", "The request is not well-formed HTTP. Check its headers and the framing of its body."),
  expectationFailed: () =>
    new Problem(417, "expectation_failed", "Expect takes 100-continue and nothing else. Send the request without the header."),
  requestTimeout: () => new Problem(408, "request_timeout", "The request did not arrive in time. Send it again."),
  headersTooLarge: () =>
    new Problem(431, "headers_too_large", "The request's headers exceed 16 KiB. Send fewer or shorter headers."),
  bodyTooLarge: () => new Problem(413, "body_too_large", "The request's body exceeds 1 MiB. Send a smaller one."),
  unsupportedMediaType: () =>
    new Problem(
      415,
      "unsupported_media_type",
      "The body must be JSON in UTF-8, without compression. Send it with Content-Type: application/json.",
    ),
  invalidJson: (why: string) => new Problem(400, "invalid_json", why),
  invalidIdempotencyKey: () =>
    new Problem(
      400,
      "invalid_idempotency_key",
      "Idempotency-Key must be 1 to 255 visible ASCII characters. A UUID is a good choice.",
    ),
  unavailable: () =>
    new Problem(503, "service_unavailable", "A part of the service cannot be reached right now. Try again in a moment."),
  overloaded: () =>
    new Problem(503, "overloaded", "More is being asked than can be answered in time. Nothing was done; try again in a moment."),
  timedOut: (code = "upstream_timeout") =>
    new Problem(504, code, "The answer did not come in time. Read the state before you try again."),
  rateLimited: (headers: Record<string, string>) =>
    new Problem(429, "rate_limited", "Too many requests. Wait for the seconds that Retry-After names, then go on more slowly.", {
      headers,
    }),
  internal: (requestId: string) =>
    new Problem(500, "internal_error", `Something went wrong on our side. Tell support the request id ${requestId}.`),
  adminRequired: () => new Problem(403, "admin_required", "This needs an operator's key. A business's key cannot be used here."),
  businessKeyRequired: () =>
    new Problem(403, "business_key_required", "This needs the key of a business. An operator's key cannot be used here."),
  validationFailed(found: readonly FieldError[]): Problem {
    const errors = found.slice(0, errorsMax);
    const [first] = errors;
    const code = errors.length === 1 && first?.code === "immutable_field" ? first.code : "validation_failed";
    const places = errors.slice(0, 5).map((error) => ("pointer" in error ? error.pointer : error.parameter));
    const more = errors.length > places.length ? " and others" : "";
    return new Problem(422, code, `Put right and send again: ${places.join(", ")}${more}.`, { errors });
  },
};

const unauthorized = (code: string, detail: string) =>
  new Problem(401, code, detail, { headers: { "www-authenticate": "Bearer" } });

/** Why a key does not open the door. */
export const unauthorizedProblems = {
  missing: () => unauthorized("missing_api_key", "Send your key as Authorization: Bearer <key> or as X-API-Key: <key>."),
  invalid: () => unauthorized("invalid_api_key", "This is not a key we know. Check that it was copied whole."),
  otherScheme: () => unauthorized("invalid_api_key", "Authorization takes one scheme here: Authorization: Bearer <key>."),
  conflicting: () => unauthorized("invalid_api_key", "The headers carry different keys. Send one key, in one header."),
  revoked: () => unauthorized("api_key_revoked", "This key was revoked or replaced. Use the new one."),
  expired: () => unauthorized("api_key_expired", "This key has expired. Use a newer one."),
  businessPending: () =>
    unauthorized("business_pending", "This business awaits approval. Its keys will work once an operator has approved it."),
  businessRejected: () => unauthorized("business_rejected", "This business was rejected, so its keys do not work."),
  businessDisabled: () =>
    unauthorized("business_disabled", "This business is disabled, so its keys do not work. Ask your operator."),
};
