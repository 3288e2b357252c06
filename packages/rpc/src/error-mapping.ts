import { type EnumName, enumName } from "@amana/contracts/enum-names";
import { RefusalKind, RefusalSchema } from "@amana/contracts/rpc/v1/refusal_pb";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { DomainError, type DomainErrorKind } from "./domain-error.ts";

const codes: Record<DomainErrorKind, Code> = {
  not_found: Code.NotFound,
  conflict: Code.FailedPrecondition,
  invalid: Code.InvalidArgument,
  refused_upstream: Code.Aborted,
  forbidden: Code.PermissionDenied,
  upstream_error: Code.Unknown,
  unavailable: Code.Unavailable,
  outcome_unknown: Code.DeadlineExceeded,
};

/**
 * Converts a refusal to a Connect error with the nearest standard code and the refusal as detail.
 */
export function toConnectError(error: DomainError): ConnectError {
  const detail = create(RefusalSchema, {
    code: error.code,
    detail: error.message,
    kind: RefusalKind[error.kind.toUpperCase() as EnumName<typeof RefusalKind>],
    pointer: error.pointer,
    members: { ...error.members },
  });
  return new ConnectError(error.message, codes[error.kind], undefined, [{ desc: RefusalSchema, value: detail }]);
}

/** Returns the Connect code of an error. */
export function codeOf(error: unknown): Code {
  if (error instanceof DomainError) return codes[error.kind];
  return error instanceof ConnectError ? error.code : Code.Internal;
}

/** Returns the refusal in a Connect error, or undefined for a fault. */
export function fromConnectError(error: ConnectError): DomainError | undefined {
  const [refusal] = error.findDetails(RefusalSchema);
  const kind = refusal && enumName(RefusalKind, refusal.kind)?.toLowerCase();
  if (!refusal || !kind) return undefined;
  return new DomainError(kind as DomainErrorKind, refusal.code, refusal.detail, {
    pointer: refusal.pointer,
    members: refusal.members,
  });
}
