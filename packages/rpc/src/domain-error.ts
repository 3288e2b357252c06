import type { EnumName } from "@amana/contracts/enum-names";
import type { RefusalKind } from "@amana/contracts/rpc/v1/refusal_pb";

/** Kind of a refusal, which determines the public HTTP status (proto/rpc/v1/refusal.proto). */
export type DomainErrorKind = Lowercase<EnumName<typeof RefusalKind>>;

interface RefusalOptions {
  readonly pointer?: string;
  readonly members?: Readonly<Record<string, string>>;
}

/**
 * A refusal: a rejection by a rule of the domain. `code` and `detail` are public, and the caller
 * receives them unchanged. Any other error is a fault: the service logs it and responds with
 * `internal`.
 */
export class DomainError extends Error {
  readonly kind: DomainErrorKind;
  /** Stable snake_case name, part of the public API. */
  readonly code: string;
  /**
   * JSON pointer of the invalid request field, "/amount". Empty if the refusal is not about a
   * single field.
   */
  readonly pointer: string;
  /** Extra members of the public problem document. */
  readonly members: Readonly<Record<string, string>>;

  constructor(kind: DomainErrorKind, code: string, detail: string, options: RefusalOptions = {}) {
    super(detail);
    this.name = "DomainError";
    this.kind = kind;
    this.code = code;
    this.pointer = options.pointer ?? "";
    this.members = options.members ?? {};
  }
}

const refusalOf = (kind: DomainErrorKind) => (code: string, detail: string, options?: RefusalOptions) =>
  new DomainError(kind, code, detail, options);

export const notFound = refusalOf("not_found");
export const conflict = refusalOf("conflict");
export const invalid = refusalOf("invalid");
export const refusedUpstream = refusalOf("refused_upstream");
export const forbidden = refusalOf("forbidden");
export const upstreamError = refusalOf("upstream_error");
export const unavailable = refusalOf("unavailable");
export const outcomeUnknown = refusalOf("outcome_unknown");
