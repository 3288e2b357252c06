import { counter, histogram, secondsSince } from "@amana/runtime";
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { codeOf } from "./error-mapping.ts";

const method = "the RPCs in the form Service/Method";
const code = "the Connect error codes, or ok";

export const serverDuration = histogram({
  name: "amana_rpc_server_duration_seconds",
  help: "Duration of RPCs that this service received, including refused ones",
  labels: { method, code },
});

export const clientDuration = histogram({
  name: "amana_rpc_client_duration_seconds",
  help: "Duration of RPCs that this service made, including retries",
  labels: { to: "the called services, or events for direct delivery", method, code },
});

export const clientRetries = counter({
  name: "amana_rpc_client_repetitions_total",
  help: "Retries of RPCs that the server did not begin or that are safe to repeat",
  labels: { to: "the called services, or events for direct delivery" },
});

const names = new WeakMap<DescMethodUnary, string>();

/** Returns the metric label of a method: "PaymentService/GetPayment". */
export function methodName(method: DescMethodUnary): string {
  let name = names.get(method);
  if (name === undefined) {
    name = `${method.parent.name}/${method.name}`;
    names.set(method, name);
  }
  return name;
}

/** Runs the work and calls `record` with the Connect code, or "ok", and the duration. */
export async function measure<T>(record: (code: string, seconds: number) => void, work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  let code = "ok";
  try {
    return await work();
  } catch (error) {
    code = codeToString(codeOf(error));
    throw error;
  } finally {
    record(code, secondsSince(startedMs));
  }
}
