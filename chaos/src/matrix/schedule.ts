import type { Way } from "../keys/take-away.ts";
import type { Course } from "../refunds/course.ts";
import type { Trouble } from "../refunds/processor-proxy.ts";
import type { Replicated } from "../rolling/replicas.ts";

/** How a verification ends: by its verdict, by an operator's review, or by the business. */
export type VerificationEnd = "approved" | "rejected" | "reviewed" | "canceled";

/** What the system is asked to do; times count from the schedule's begin. */
export type Work = { readonly atMs: number } & (
  | { readonly kind: "refund"; readonly course: Course }
  | { readonly kind: "key"; readonly way: Way }
  | { readonly kind: "verification"; readonly end: VerificationEnd; readonly ofClient: boolean }
  /** Everything that was delivered is delivered again. */
  | { readonly kind: "replay" }
);

/** What befalls the system meanwhile. `forMs`: so long it is down, or frozen. */
export type Fault = { readonly atMs: number } & (
  | { readonly kind: "kill" | "freeze"; readonly service: Replicated; readonly replica: number; readonly forMs: number }
  | {
      /** The first replica that comes to the point is killed or frozen there. */
      readonly kind: "point";
      readonly point: string;
      readonly service: Replicated;
      readonly signal: "SIGKILL" | "SIGSTOP";
      readonly forMs: number;
    }
  /** The service's connections to its database. */
  | { readonly kind: "cut"; readonly service: Exclude<Replicated, "gateway"> }
  | { readonly kind: "postgres" | "kafka"; readonly forMs: number }
  /** A mode of the sandbox, for the next calls of an operation. */
  | { readonly kind: "answers"; readonly operation: string; readonly mode: string; readonly times: number }
  /** What befalls the next refund call on its way to the processor. */
  | { readonly kind: "way"; readonly trouble: Trouble }
);

/** One play: plain data, so that it can be kept, made shorter and played again. */
export interface Schedule {
  readonly work: readonly Work[];
  readonly faults: readonly Fault[];
}

/** Throws when the text is no schedule. */
export function readSchedule(text: string): Schedule {
  const { work, faults } = JSON.parse(text) as Partial<Schedule>;
  if (!Array.isArray(work) || !Array.isArray(faults)) throw new TypeError("a schedule has work and faults, a list each");
  return { work, faults };
}
