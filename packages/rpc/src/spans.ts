import type { Span } from "@amana/runtime";
import type { DescMethodUnary } from "@bufbuild/protobuf";
import type { Caller } from "./caller.ts";

/** The codes of faults. All others are refusals, which are answers like any. */
const faults = new Set(["unknown", "deadline_exceeded", "unimplemented", "internal", "unavailable", "data_loss"]);

/** Ends the span of a call, on either side, with how the call ended. */
export function endSpan(span: Span, method: DescMethodUnary, code: string, caller: Caller): void {
  span.set({
    "rpc.system": "connect_rpc",
    "rpc.service": method.parent.typeName,
    "rpc.method": method.name,
    "rpc.connect_rpc.error_code": code === "ok" ? undefined : code,
    "amana.business_id": caller.role === "business" ? caller.businessId : undefined,
  });
  span.end(faults.has(code) ? code : undefined);
}
