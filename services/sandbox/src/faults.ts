import { isOneOf, isWholeNumber } from "./checks.ts";

/** A fault that a tester set for the next `times` calls of one operation. */
export interface Fault {
  readonly operation: Operation;
  /** Limits the fault to calls for this order of the card processor. */
  readonly orderId?: string;
  readonly mode: string;
  /** Number of calls that the fault still affects. */
  readonly times: number;
}

/**
 * Parts of a fault's mode: `slow` and `200` for "slow:200". The name is `none` if the call has no
 * fault.
 */
export interface Mode {
  readonly name: string;
  readonly value: string;
  readonly text: string;
}

const responseModes = [
  "timeout_before",
  "timeout_after",
  "reset_after",
  "http_500",
  "http_503",
  "html_200",
  "truncated",
  "slow:<ms>",
] as const;

const cardModes = [...responseModes, "error:<errorCode>", "late:<ms>", "error_late:<ms>"] as const;
const statusModes = [...cardModes, "stale:<ms>"] as const;
const kycModes = [...responseModes, "error:<status>"] as const;
const portModes = [...kycModes, "leak:<word>", "leak_error:<word>"] as const;
const callbackModes = [...kycModes, "duplicate", "reorder", "drop", "bad_signature", "leak:<word>"] as const;

/** Operations and their modes. */
const modesByOperation = {
  register: cardModes,
  confirm: cardModes,
  status: statusModes,
  refund: cardModes,
  kyc_create: portModes,
  kyc_get: portModes,
  kyc_cancel: portModes,
  kyc_review: portModes,
  kyc_link: portModes,
  kyc_aml: portModes,
  kyc_erase: portModes,
  kyc_callback: callbackModes,
} as const;

export type Operation = keyof typeof modesByOperation;

export const operations = Object.keys(modesByOperation) as Operation[];

/** The modes of all operations, without duplicates. */
export const modes: readonly string[] = [...new Set(Object.values(modesByOperation).flat())];

const timesMax = 10_000;
const waitMsMax = 120_000;
/**
 * Maximum delay of a late call. The maximum is a day, because a lost refund request may take effect
 * hours later.
 */
const lateMsMax = 86_400_000;

export const isOperation = isOneOf(operations);

export type Faults = ReturnType<typeof createFaults>;

/** Creates the store of faults. The store is only in memory, so a restart removes all faults. */
export function createFaults() {
  const activeFaults = new Map<string, Fault>();
  const keyOf = (operation: string, orderId?: string) => (orderId === undefined ? operation : `${operation} ${orderId}`);
  return {
    /**
     * Replaces the fault of the operation and order. Returns an error text if the input is invalid.
     */
    set({ operation, mode, times = 1, orderId }: Readonly<Record<string, unknown>>): string | undefined {
      if (!isOperation(operation)) return `operation must be one of ${operations.join(", ")}.`;
      const modes = modesByOperation[operation];
      if (typeof mode !== "string" || !modes.some((pattern) => matches(mode, pattern))) {
        return `mode must be one of ${modes.join(", ")}. The maximum of slow is ${waitMsMax} ms, of late and stale ${lateMsMax} ms.`;
      }
      if (!isWholeNumber(times, 1, timesMax)) return `times must be a whole number from 1 to ${timesMax}.`;
      if (orderId !== undefined && typeof orderId !== "string") return "orderId must be a string. Omit it for any order.";
      activeFaults.set(keyOf(operation, orderId), { operation, mode, times, ...(orderId && { orderId }) });
      return undefined;
    },
    /** Returns the mode for this call, and decrements `times` of the fault. */
    consume(operation: string, orderId?: string): Mode {
      const keys = [keyOf(operation, orderId), operation];
      const key = keys.find((candidate) => activeFaults.has(candidate)) ?? "";
      const fault = activeFaults.get(key);
      if (fault?.times === 1) activeFaults.delete(key);
      else if (fault) activeFaults.set(key, { ...fault, times: fault.times - 1 });
      const text = fault?.mode ?? "none";
      const [name = "", value = ""] = text.split(":");
      return { name, value, text };
    },
    list: () => [...activeFaults.values()],
    clear(operation?: Operation) {
      for (const [key, fault] of activeFaults)
        if (operation === undefined || fault.operation === operation) activeFaults.delete(key);
    },
  };
}

const valuePatterns = { "<ms>": /^\d{1,8}$/, "<errorCode>": /^-?\d{1,5}$/, "<status>": /^[45]\d\d$/, "<word>": /^[\w-]{1,64}$/ };

/** Returns whether a mode such as "slow:200" matches a pattern such as "slow:<ms>". */
function matches(mode: string, pattern: string): boolean {
  const [name, kind] = pattern.split(":") as [string, keyof typeof valuePatterns | undefined];
  if (!kind) return mode === pattern;
  const value = mode.slice(name.length + 1);
  if (mode !== `${name}:${value}` || !valuePatterns[kind].test(value)) return false;
  return kind !== "<ms>" || Number(value) <= (name === "slow" ? waitMsMax : lateMsMax);
}
