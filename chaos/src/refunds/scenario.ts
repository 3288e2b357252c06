import type { Random } from "../random.ts";
import type { ProxyFault } from "./processor-proxy.ts";

/**
 * The refund requests and faults of one payment, drawn before the payment is created. The property
 * names must not change, because stored schedules contain them.
 */
export interface RefundScenario {
  /** Refund requests. With `atOnce`, they are sent in parallel. No amount means a full refund. */
  readonly asks: readonly { readonly amount: string | undefined; readonly pauseMs: number; readonly patienceMs: number }[];
  readonly atOnce: boolean;
  /** Fault modes of the sandbox for refund calls and for status reads. */
  readonly refundFault?: { readonly mode: string; readonly times: number };
  readonly statusFault?: { readonly mode: string; readonly times: number };
  /** Fault of the proxy for the refund call. */
  readonly trouble?: ProxyFault;
  /**
   * A refund or reversal by the processor's back office. It happens before the first refund
   * request, or `afterMs` after the start of the scenario.
   */
  readonly backOffice?: { readonly gives: string | undefined | "reverse"; readonly afterMs: number | "before" };
  /**
   * If true, the program resets the rows of the refunded payment to an earlier state, and then
   * requests a refund again.
   */
  readonly rollsBack: boolean;
}

export const paidAmount = "5000.00";
/** Partial amounts. The processor would accept any two of them for one payment. */
const smallAmounts = ["0.01", "1000.00", "2500.00"] as const;
/**
 * The partial amounts, larger amounts that the processor refunds only once for a payment, and the
 * full amount.
 */
const amounts = [...smallAmounts, "2500.01", "4000.00", paidAmount, undefined] as const;
/** Longest delay of a late effect. It exceeds the time after which a refund is sent again. */
export const lateMsMax = 5_000;
/** Longest time for which a caller waits for a response. */
export const patienceMsMax = 6_000;

const failureModes = ["timeout_before", "timeout_after", "reset_after", "truncated", "http_500", "http_503", "html_200"] as const;
const proxyFaultKinds = ["deliver_late", "drop", "lose_answer", "hold_answer"] as const;

/**
 * Draws a scenario. Half of the scenarios are of a kind that an earlier version could not handle
 * without a double refund.
 */
export function drawScenario(random: Random): RefundScenario {
  const randomScenario = drawRandomScenario(random);
  const lateMs = random.integer(1_500, lateMsMax);
  const request = (amount: string, pauseMs = 0) => ({ amount, pauseMs, patienceMs: patienceMsMax });
  const smallAmount = () => random.pick(smallAmounts);
  switch (random.pick(["late", "refused", "rolled back", "refunded at the back office", "any", "any", "any", "any"] as const)) {
    case "late": {
      const lateEffect = random.chance(0.5)
        ? { refundFault: { mode: `late:${lateMs}`, times: 1 } }
        : { trouble: { kind: "deliver_late", ms: lateMs } as const };
      return { asks: [request(smallAmount())], atOnce: false, rollsBack: false, ...lateEffect };
    }
    case "refused": {
      const asks = [
        request(smallAmount()),
        request(smallAmount(), random.integer(0, 1_500)),
        request(smallAmount(), random.integer(0, 1_500)),
      ];
      return { asks, atOnce: false, rollsBack: false, refundFault: { mode: `error_late:${lateMs}`, times: 1 } };
    }
    case "rolled back":
      return { asks: [request(smallAmount())], atOnce: false, rollsBack: true };
    case "refunded at the back office": {
      const gives = random.pick(["0.01", "1500.00", "2500.00", undefined, "reverse"] as const);
      return {
        ...randomScenario,
        rollsBack: false,
        backOffice: { gives, afterMs: random.chance(0.6) ? "before" : random.integer(0, 4_000) },
      };
    }
    default:
      return randomScenario;
  }
}

export const drawRequests = (random: Random): RefundScenario["asks"] =>
  Array.from({ length: random.integer(1, 3) }, () => ({
    amount: random.pick(amounts),
    pauseMs: random.chance(0.5) ? 0 : random.integer(0, 2_500),
    patienceMs: random.chance(0.2) ? random.integer(50, 1_500) : patienceMsMax,
  }));

function drawRandomScenario(random: Random): RefundScenario {
  const lateMs = () => random.integer(100, lateMsMax);
  const asks = drawRequests(random);
  const lateModes = [`late:${lateMs()}`, `error_late:${lateMs()}`, `late:${lateMs()}`, `error_late:${lateMs()}`] as const;
  const refundModes = [...failureModes, "error:5", "error:7", `slow:${lateMs()}`, ...lateModes] as const;
  const statusModes = [...failureModes, "error:7", `slow:${random.integer(100, 3_000)}`] as const;
  const rollsBack = random.chance(0.25);
  const trouble = random.chance(0.2) ? ({ kind: random.pick(proxyFaultKinds), ms: lateMs() } as const) : undefined;
  const refundFault =
    !trouble && random.chance(0.6) ? { mode: random.pick(refundModes), times: random.integer(1, 2) } : undefined;
  // Excludes stale reads if rows are rolled back, because payments cannot detect a lost refund if
  // the processor returns an old state.
  const statusMode = !rollsBack && random.chance(0.5) ? `stale:${lateMs()}` : random.pick(statusModes);
  return {
    asks,
    atOnce: random.chance(0.3),
    ...(refundFault && { refundFault }),
    ...(random.chance(0.25) && { statusFault: { mode: statusMode, times: random.integer(1, 3) } }),
    ...(trouble && { trouble }),
    rollsBack,
  };
}
