/** What a call throws: the API's `ProblemError`, or a `ConnectionError` without an answer. */
export abstract class AmanaError extends Error {
  /**
   * Whether what was asked may have happened, or may still happen. Then it has not failed: send the
   * same again with this `idempotencyKey`, or read, before anything else is done about it.
   */
  readonly outcomeUnknown: boolean;
  /** The key of a POST, also one that the client made. */
  readonly idempotencyKey: string | undefined;

  constructor(message: string, { outcomeUnknown, idempotencyKey }: Circumstances, cause?: unknown) {
    super(message, { cause });
    this.outcomeUnknown = outcomeUnknown;
    this.idempotencyKey = idempotencyKey;
  }
}

export interface Circumstances {
  readonly outcomeUnknown: boolean;
  readonly idempotencyKey: string | undefined;
}

/** What is wrong with one field of the body (`pointer`) or one query parameter (`parameter`). */
export interface FieldError {
  readonly pointer?: string;
  readonly parameter?: string;
  readonly code: string;
  readonly message: string;
}

/** An answer that is no success (RFC 9457). */
export interface Problem {
  readonly status: number;
  /** Stable: decide by it. Empty when something between here and the API answered. */
  readonly code: string;
  readonly detail: string;
  readonly errors: readonly FieldError[];
  /** For support. */
  readonly requestId: string | undefined;
  /** In seconds. */
  readonly retryAfter: number | undefined;
  /** All members, those of certain codes too, such as `payment_status`. */
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

  constructor(problem: Problem, circumstances: Circumstances) {
    super(`${problem.status} ${problem.code}: ${problem.detail}`, circumstances);
    this.status = problem.status;
    this.code = problem.code;
    this.detail = problem.detail;
    this.errors = problem.errors;
    this.requestId = problem.requestId;
    this.retryAfter = problem.retryAfter;
    this.members = problem.members;
  }
}

/** No connection, a broken one, an answer that could not be read, or the time was over. */
export class ConnectionError extends AmanaError {
  override readonly name = "ConnectionError";
}

/** Only the API writes problem documents: what a proxy says is no word of the API. */
export function problemOf(status: number, headers: Headers, text: string): Problem {
  const isOurs = headers.get("content-type")?.startsWith("application/problem+json");
  const members = isOurs ? parseObject(text) : {};
  const { code, detail, errors, request_id } = members;
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return {
    status,
    code: typeof code === "string" ? code : "",
    detail: typeof detail === "string" ? detail : "not an answer of the API",
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
