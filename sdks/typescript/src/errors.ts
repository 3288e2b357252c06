/** Base class of all errors of requests. Subclasses are `ProblemError` and `ConnectionError`. */
export abstract class AmanaError extends Error {
  /**
   * True if the request may have taken effect or may still take effect. Do not treat such a request
   * as failed. Repeat it with this `idempotencyKey`, or read the resource first.
   */
  readonly outcomeUnknown: boolean;
  /** The Idempotency-Key of a POST, even if the client generated the key. */
  readonly idempotencyKey: string | undefined;

  constructor(message: string, { outcomeUnknown, idempotencyKey }: RequestOutcome, cause?: unknown) {
    super(message, { cause });
    this.outcomeUnknown = outcomeUnknown;
    this.idempotencyKey = idempotencyKey;
  }
}

export interface RequestOutcome {
  readonly outcomeUnknown: boolean;
  readonly idempotencyKey: string | undefined;
}

/** An error in a field of the body (`pointer`) or in a query parameter (`parameter`). */
export interface FieldError {
  readonly pointer?: string;
  readonly parameter?: string;
  readonly code: string;
  readonly message: string;
}

/** An error response (RFC 9457). */
export interface Problem {
  readonly status: number;
  /**
   * Stable code of the problem, for use in your program. Empty if the response did not come from
   * the API.
   */
  readonly code: string;
  readonly detail: string;
  readonly errors: readonly FieldError[];
  /** Identifies the request in support cases. */
  readonly requestId: string | undefined;
  /** Seconds until the request can be repeated. */
  readonly retryAfter: number | undefined;
  /** All members of the response. Some codes have their own members, such as `payment_status`. */
  readonly members: Readonly<Record<string, unknown>>;
}

export class ProblemError extends AmanaError implements Problem {
  override readonly name = "ProblemError";
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly errors: readonly FieldError[];
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;
  readonly members: Readonly<Record<string, unknown>>;

  constructor(problem: Problem, outcome: RequestOutcome) {
    super(`${problem.status} ${problem.code}: ${problem.detail}`, outcome);
    this.status = problem.status;
    this.code = problem.code;
    this.detail = problem.detail;
    this.errors = problem.errors;
    this.requestId = problem.requestId;
    this.retryAfter = problem.retryAfter;
    this.members = problem.members;
  }
}

/**
 * Thrown if the connection failed or broke, if the response was unreadable, or if the time limit
 * passed.
 */
export class ConnectionError extends AmanaError {
  override readonly name = "ConnectionError";
}

/**
 * Reads the problem document in a response to a request of your own code, for example for a
 * statement. For any other body, the returned problem has an empty code, because only the API sends
 * problem documents.
 */
export function problemOf(status: number, headers: Headers, text: string): Problem {
  const isProblemDocument = headers.get("content-type")?.startsWith("application/problem+json");
  const members = isProblemDocument ? parseObject(text) : {};
  const { code, detail, errors, request_id } = members;
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return {
    status,
    code: typeof code === "string" ? code : "",
    detail: typeof detail === "string" ? detail : "the response is not from the API",
    errors: Array.isArray(errors) ? (errors as FieldError[]) : [],
    requestId: typeof request_id === "string" ? request_id : (headers.get("x-request-id") ?? undefined),
    retryAfter: Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined,
    members,
  };
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
