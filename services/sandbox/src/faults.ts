import { isOneOf, isWhole } from "./checks.ts";

/** A trouble planted by a tester, for the next `times` calls of one operation. */
export interface Fault {
  readonly operation: Operation;
  /** Strikes only calls about this order of the card processor; without it, any call. */
  readonly orderId?: string;
  readonly mode: string;
  /** How many calls it still strikes. */
  readonly times: number;
}

/** The mode of a fault in its parts, such as slow and 200; `none` when no fault strikes. */
export interface Mode {
  readonly name: string;
  readonly value: string;
  readonly text: string;
}

const answerModes = [
  "timeout_before",
  "timeout_after",
  "reset_after",
  "http_500",
  "http_503",
  "html_200",
  "truncated",
  "slow:<ms>",
] as const;

const cardModes = [...answerModes, "error:<errorCode>", "late:<ms>", "error_late:<ms>"] as const;
const statusModes = [...cardModes, "stale:<ms>"] as const;
const kycModes = [...answerModes, "error:<status>"] as const;
const portModes = [...kycModes, "leak:<word>", "leak_error:<word>"] as const;
const callbackModes = [...kycModes, "duplicate", "reorder", "drop", "bad_signature", "leak:<word>"] as const;

/** Another provider adds its operations here, each with the modes it understands. */
const modesByOperation = {
  register: cardModes,
  confirm: cardModes,
  status: statusModes,
  refund: cardModes,
  kyc_create: portModes,
  kyc_get: portModes,
  kyc_cancel: portModes,
  kyc_callback: callbackModes,
} as const;

export type Operation = keyof typeof modesByOperation;

export const operations = Object.keys(modesByOperation) as Operation[];

/** Of all operations, each once. */
export const modes: readonly string[] = [...new Set(Object.values(modesByOperation).flat())];

const timesMax = 10_000;
const waitMsMax = 120_000;
/** A refund that was believed lost may come hours later. */
const lateMsMax = 86_400_000;

export const isOperation = isOneOf(operations);

export type Faults = ReturnType<typeof createFaults>;

/** Kept in memory only: a restarted sandbox is a healthy one. */
export function createFaults() {
  const planted = new Map<string, Fault>();
  const keyOf = (operation: string, orderId?: string) => (orderId === undefined ? operation : `${operation} ${orderId}`);
  return {
    /** Replaces the earlier fault of the operation and order. Returns what is wrong, if any. */
    plant({ operation, mode, times = 1, orderId }: Readonly<Record<string, unknown>>): string | undefined {
      if (!isOperation(operation)) return `operation must be one of ${operations.join(", ")}.`;
      const modes = modesByOperation[operation];
      if (typeof mode !== "string" || !modes.some((known) => fits(mode, known))) {
        return `mode must be one of ${modes.join(", ")}; slow waits at most ${waitMsMax} ms, late and stale reach at most ${lateMsMax} ms.`;
      }
      if (!isWhole(times, 1, timesMax)) return `times must be a whole number from 1 to ${timesMax}.`;
      if (orderId !== undefined && typeof orderId !== "string") return "orderId must be a text, or left out.";
      planted.set(keyOf(operation, orderId), { operation, mode, times, ...(orderId && { orderId }) });
      return undefined;
    },
    /** The mode that strikes this call; each call uses one up. */
    strike(operation: string, orderId?: string): Mode {
      const keys = [keyOf(operation, orderId), operation];
      const key = keys.find((candidate) => planted.has(candidate)) ?? "";
      const fault = planted.get(key);
      if (fault?.times === 1) planted.delete(key);
      else if (fault) planted.set(key, { ...fault, times: fault.times - 1 });
      const text = fault?.mode ?? "none";
      const [name = "", value = ""] = text.split(":");
      return { name, value, text };
    },
    list: () => [...planted.values()],
    clear(operation?: Operation) {
      for (const [key, fault] of planted) if (operation === undefined || fault.operation === operation) planted.delete(key);
    },
  };
}

const patterns = { "<ms>": /^\d{1,8}$/, "<errorCode>": /^-?\d{1,5}$/, "<status>": /^[45]\d\d$/, "<word>": /^[\w-]{1,64}$/ };

function fits(mode: string, known: string): boolean {
  const [name, kind] = known.split(":") as [string, keyof typeof patterns | undefined];
  if (!kind) return mode === known;
  const value = mode.slice(name.length + 1);
  if (mode !== `${name}:${value}` || !patterns[kind].test(value)) return false;
  return kind !== "<ms>" || Number(value) <= (name === "slow" ? waitMsMax : lateMsMax);
}
