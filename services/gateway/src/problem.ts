import { type ProblemCode, problemCatalogue } from "./problem-catalogue.ts";

/** A place of a request at fault: a JSON pointer into the body, or a query parameter's name. */
export type FieldError = ({ pointer: string } | { parameter: string }) & { code: string; message: string };

interface More {
  readonly errors?: readonly FieldError[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly members?: Readonly<Record<string, string | boolean>>;
}

/** An answer that is not a success, as RFC 9457 describes it. Everything in it is public. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: readonly FieldError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, string | boolean>>;

  constructor(status: number, code: string, detail: string, { errors, headers = {}, members = {} }: More = {}) {
    super(detail);
    this.name = "Problem";
    this.status = status;
    this.code = code;
    this.errors = errors;
    this.headers = headers;
    this.members = members;
  }

  /** A refusal of the gateway's own, told as its page tells it unless there is more to say. */
  static of(code: ProblemCode, { detail, headers, ...more }: More & { readonly detail?: string } = {}): Problem {
    const [, advice, status] = problemCatalogue[code];
    const challenge = status === 401 && { "www-authenticate": "Bearer" };
    return new Problem(status, code, detail ?? advice, { ...more, headers: { ...challenge, ...headers } });
  }
}

export const invalidJson = (detail: string) => Problem.of("invalid_json", { detail });

/** Maximum number of errors in a response. Checks stop at the next error to limit their cost. */
export const errorsMax = 100;

/** Creates a 422 with at most `errorsMax` errors, and `more_errors` when there are more. */
export function validationFailed(found: readonly FieldError[]): Problem {
  const errors = found.slice(0, errorsMax);
  const [first] = errors;
  const code = errors.length === 1 && first?.code === "immutable_field" ? first.code : "validation_failed";
  const places = errors.slice(0, 5).map((error) => ("pointer" in error ? error.pointer : error.parameter));
  const more = errors.length > places.length ? " and others" : "";
  return Problem.of(code, {
    detail: `Correct these fields and send the request again: ${places.join(", ")}${more}.`,
    errors,
    ...(found.length > errorsMax && { members: { more_errors: true } }),
  });
}
