import { type ProblemCode, problemCatalogue } from "./problem-catalogue.ts";

/** An invalid part of a request: a JSON pointer into the body, or a query parameter's name. */
export type FieldError = ({ pointer: string } | { parameter: string }) & { code: string; message: string };

interface Details {
  readonly errors?: readonly FieldError[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly members?: Readonly<Record<string, string | boolean>>;
}

/** An error response (RFC 9457). All its fields are public. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: readonly FieldError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, string | boolean>>;

  constructor(status: number, code: string, detail: string, { errors, headers = {}, members = {} }: Details = {}) {
    super(detail);
    this.name = "Problem";
    this.status = status;
    this.code = code;
    this.errors = errors;
    this.headers = headers;
    this.members = members;
  }

  /**
   * Creates a problem with a code of the catalogue. The default of `detail` is the advice in the
   * catalogue.
   */
  static of(code: ProblemCode, { detail, headers, ...details }: Details & { readonly detail?: string } = {}): Problem {
    const [, advice, status] = problemCatalogue[code];
    const challenge = status === 401 && { "www-authenticate": "Bearer" };
    return new Problem(status, code, detail ?? advice, { ...details, headers: { ...challenge, ...headers } });
  }
}

export const invalidJson = (detail: string) => Problem.of("invalid_json", { detail });

/** Maximum number of errors in a response. Checks stop after one more error to limit their cost. */
export const errorsMax = 100;

/**
 * Creates a problem with status 422 and at most `errorsMax` errors. Sets `more_errors` if there are
 * more errors.
 */
export function validationFailed(allErrors: readonly FieldError[]): Problem {
  const errors = allErrors.slice(0, errorsMax);
  const [first] = errors;
  const code = errors.length === 1 && first?.code === "immutable_field" ? first.code : "validation_failed";
  const positions = errors.slice(0, 5).map((error) => ("pointer" in error ? error.pointer : error.parameter));
  const ending = errors.length > positions.length ? " and others" : "";
  return Problem.of(code, {
    detail: `Correct these fields and send the request again: ${positions.join(", ")}${ending}.`,
    errors,
    ...(allErrors.length > errorsMax && { members: { more_errors: true } }),
  });
}
