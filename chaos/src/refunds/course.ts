import type { Random } from "../random.ts";
import type { Trouble } from "./processor-proxy.ts";

/** What one payment goes through, drawn before it begins. */
export interface Course {
  /** One after another, or all at once; an undefined amount asks for everything. */
  readonly asks: readonly { readonly amount: string | undefined; readonly pauseMs: number; readonly patienceMs: number }[];
  readonly atOnce: boolean;
  /** A mode of the sandbox for the calls that refund, and one for those that read. */
  readonly refundFault?: { readonly mode: string; readonly times: number };
  readonly statusFault?: { readonly mode: string; readonly times: number };
  /** What befalls the refund call on its way. */
  readonly trouble?: Trouble;
  /**
   * What the processor's back office does, and when: before the first request, or so long after it.
   */
  readonly backOffice?: { readonly gives: string | undefined | "reverse"; readonly afterMs: number | "before" };
  /**
   * Once refunded, the rows are put back to how they were at some earlier moment, and a refund is
   * asked for again.
   */
  readonly rollsBack: boolean;
}

export const paid = "5000.00";
/** Parts of which the processor would take two. */
const smallAmounts = ["0.01", "1000.00", "2500.00"] as const;
/** Beside them parts of which it must refuse a second, and everything. */
const amounts = [...smallAmounts, "2500.01", "4000.00", paid, undefined] as const;
/**
 * The longest that an effect is put off: some come before a refund would be sent again, some long
 * after.
 */
export const lateMsMax = 5_000;
/** How long a client waits for an answer. */
export const patienceMsMax = 6_000;

const wholeModes = ["timeout_before", "timeout_after", "reset_after", "truncated", "http_500", "http_503", "html_200"] as const;
const troubles = ["deliver_late", "drop", "lose_answer", "hold_answer"] as const;

/**
 * Half of the courses are drawn freely; the others are of a kind that once led to a second refund.
 */
export function drawCourse(random: Random): Course {
  const any = drawFreely(random);
  const late = random.integer(1_500, lateMsMax);
  const one = (amount: string, pauseMs = 0) => ({ amount, pauseMs, patienceMs: patienceMsMax });
  const small = () => random.pick(smallAmounts);
  switch (random.pick(["late", "refused", "rolled back", "given back", "any", "any", "any", "any"] as const)) {
    case "late": {
      const way = random.chance(0.5)
        ? { refundFault: { mode: `late:${late}`, times: 1 } }
        : { trouble: { kind: "deliver_late", ms: late } as const };
      return { asks: [one(small())], atOnce: false, rollsBack: false, ...way };
    }
    case "refused": {
      const asks = [one(small()), one(small(), random.integer(0, 1_500)), one(small(), random.integer(0, 1_500))];
      return { asks, atOnce: false, rollsBack: false, refundFault: { mode: `error_late:${late}`, times: 1 } };
    }
    case "rolled back":
      return { asks: [one(small())], atOnce: false, rollsBack: true };
    case "given back": {
      const gives = random.pick(["0.01", "1500.00", "2500.00", undefined, "reverse"] as const);
      return {
        ...any,
        rollsBack: false,
        backOffice: { gives, afterMs: random.chance(0.6) ? "before" : random.integer(0, 4_000) },
      };
    }
    default:
      return any;
  }
}

export const drawAsks = (random: Random): Course["asks"] =>
  Array.from({ length: random.integer(1, 3) }, () => ({
    amount: random.pick(amounts),
    pauseMs: random.chance(0.5) ? 0 : random.integer(0, 2_500),
    patienceMs: random.chance(0.2) ? random.integer(50, 1_500) : patienceMsMax,
  }));

function drawFreely(random: Random): Course {
  const late = () => random.integer(100, lateMsMax);
  const asks = drawAsks(random);
  const lateModes = [`late:${late()}`, `error_late:${late()}`, `late:${late()}`, `error_late:${late()}`] as const;
  const refundModes = [...wholeModes, "error:5", "error:7", `slow:${late()}`, ...lateModes] as const;
  const statusModes = [...wholeModes, "error:7", `slow:${random.integer(100, 3_000)}`] as const;
  const rollsBack = random.chance(0.25);
  const trouble = random.chance(0.2) ? ({ kind: random.pick(troubles), ms: late() } as const) : undefined;
  const refundFault =
    !trouble && random.chance(0.6) ? { mode: random.pick(refundModes), times: random.integer(1, 2) } : undefined;
  // Nothing can tell a lost commit from one that never was while the only witness, the processor,
  // shows the past.
  const statusMode = !rollsBack && random.chance(0.5) ? `stale:${late()}` : random.pick(statusModes);
  return {
    asks,
    atOnce: random.chance(0.3),
    ...(refundFault && { refundFault }),
    ...(random.chance(0.25) && { statusFault: { mode: statusMode, times: random.integer(1, 3) } }),
    ...(trouble && { trouble }),
    rollsBack,
  };
}
