import type { KycProvider } from "@amana/dev-env/services";
import type { RevocationMethod } from "../keys/revoke.ts";
import type { ProxyFault } from "../refunds/processor-proxy.ts";
import type { RefundScenario } from "../refunds/scenario.ts";
import type { ReplicatedService } from "../rolling/replicas.ts";

/**
 * The end of a verification. "reviewed" is a decision by an operator, "canceled" a cancellation by
 * the business. Only vendors have the last three: "retried" is an approval after a failed attempt,
 * "reversed" an approval that the vendor changes later, and "vendor_reviewed" a decision by a
 * person at the vendor.
 */
export type VerificationEnd = "approved" | "rejected" | "reviewed" | "canceled" | "retried" | "reversed" | "vendor_reviewed";

/** A unit of work. `atMs` is the time from the start of the schedule. */
export type Work = { readonly atMs: number } & (
  | { readonly kind: "refund"; readonly course: RefundScenario }
  | { readonly kind: "key"; readonly way: RevocationMethod }
  | { readonly kind: "verification"; readonly end: VerificationEnd; readonly ofClient: boolean }
  /** Requests a replay of all delivered events. */
  | { readonly kind: "replay" }
);

/** A fault to inject. `forMs` is the time for which a process is down or frozen. */
export type Fault = { readonly atMs: number } & (
  | { readonly kind: "kill" | "freeze"; readonly service: ReplicatedService; readonly replica: number; readonly forMs: number }
  | {
      /** The first replica that reaches the fault point is killed or frozen there. */
      readonly kind: "point";
      readonly point: string;
      readonly service: ReplicatedService;
      readonly signal: "SIGKILL" | "SIGSTOP";
      readonly forMs: number;
    }
  /** Terminates the service's database connections. */
  | { readonly kind: "cut"; readonly service: Exclude<ReplicatedService, "gateway"> }
  | { readonly kind: "postgres" | "kafka"; readonly forMs: number }
  /** Sets a fault mode of the sandbox for the next calls of an operation. */
  | { readonly kind: "answers"; readonly operation: string; readonly mode: string; readonly times: number }
  /** Sets a fault of the proxy for the next refund call to the processor. */
  | { readonly kind: "way"; readonly trouble: ProxyFault }
);

/**
 * Work and faults as plain JSON, which can be stored, shrunk and played again. The property names
 * and the kinds must not change, because stored schedules contain them.
 */
export interface Schedule {
  /** Verification provider of the system. Default: `port`, Amana's own protocol. */
  readonly kycProvider?: KycProvider;
  readonly work: readonly Work[];
  readonly faults: readonly Fault[];
}

/** Parses a schedule. Throws a TypeError if `work` or `faults` is not a list. */
export function readSchedule(text: string): Schedule {
  const { work, faults, kycProvider } = JSON.parse(text) as Partial<Schedule>;
  if (!Array.isArray(work) || !Array.isArray(faults)) throw new TypeError("a schedule needs the lists work and faults");
  return { ...(kycProvider && { kycProvider }), work, faults };
}
