import type { Span } from "@amana/runtime";
import type { DescMethodUnary } from "@bufbuild/protobuf";
import type { Caller } from "./caller.ts";

/** Connect codes of faults, which mark a span as failed. All other codes belong to refusals. */
const faultCodes = new Set(["unknown", "deadline_exceeded", "unimplemented", "internal", "unavailable", "data_loss"]);

/** Ends the span of an RPC at the client or server. `code` is the RPC's Connect code, or "ok". */
export function endSpan(span: Span, method: DescMethodUnary, code: string, caller: Caller): void {
  span.set({
    "rpc.system": "connect_rpc",
    "rpc.service": method.parent.typeName,
    "rpc.method": method.name,
    "rpc.connect_rpc.error_code": code === "ok" ? undefined : code,
    "amana.business_id": caller.role === "business" ? caller.businessId : undefined,
  });
  span.end(faultCodes.has(code) ? code : undefined);
}
