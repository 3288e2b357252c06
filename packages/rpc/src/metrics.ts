import { counter, histogram, secondsSince } from "@amana/runtime";
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { codeOf } from "./error-mapping.ts";

const method = "the RPCs, as Service/Method";
const code = "the codes of Connect, and ok";

export const served = histogram({
  name: "amana_rpc_server_duration_seconds",
  help: "How long calls took that this service answered, refusals included",
  labels: { method, code },
});

export const called = histogram({
  name: "amana_rpc_client_duration_seconds",
  help: "How long calls took that this service made, repetitions included",
  labels: { to: "the services", method, code },
});

export const repeated = counter({
  name: "amana_rpc_client_repetitions_total",
  help: "Calls that were sent again, because nothing was done or it does no harm",
  labels: { to: "the services" },
});

const names = new WeakMap<DescMethodUnary, string>();

/** "PaymentService/GetPayment" */
export function methodName(method: DescMethodUnary): string {
  let name = names.get(method);
  if (name === undefined) {
    name = `${method.parent.name}/${method.name}`;
    names.set(method, name);
  }
  return name;
}

/** Does the work and says how it ended and how long that took. */
export async function measured<T>(note: (code: string, seconds: number) => void, work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  let code = "ok";
  try {
    return await work();
  } catch (error) {
    code = codeToString(codeOf(error));
    throw error;
  } finally {
    note(code, secondsSince(startedMs));
  }
}
