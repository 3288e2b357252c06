/** A trouble planted by a tester, for the next `times` calls of one operation. */
export interface Fault {
  readonly operation: Operation;
  /** Strikes only calls about this order of the card processor; without it, any call. */
  readonly orderId?: string;
  readonly mode: string;
  /** How many calls it still strikes. */
  readonly times: number;
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

const timesMax = 10_000;
const waitMsMax = 120_000;
/** A refund that was believed lost may come hours later. */
const lateMsMax = 86_400_000;

export interface Faults {
  /** Replaces the earlier fault of the operation, and order if one is named. Answers what is wrong with the wish, if anything. */
  plant(wish: { operation?: unknown; mode?: unknown; times?: unknown; orderId?: unknown }): { problem: string } | undefined;
  /** The mode that strikes this call, if one does; each call uses one up. */
  strike(operation: Operation, orderId?: string): string | undefined;
  list(): Fault[];
  clear(operation?: Operation): void;
}

export const isOperation = (name: unknown): name is Operation => operations.some((operation) => operation === name);

/** Kept in memory only: a restarted sandbox is a healthy one. */
export function createFaults(): Faults {
  const planted = new Map<string, Fault>();
  const keyOf = (operation: Operation, orderId?: string) => (orderId === undefined ? operation : `${operation} ${orderId}`);
  return {
    plant({ operation, mode, times = 1, orderId }) {
      if (!isOperation(operation)) return { problem: `operation must be one of ${operations.join(", ")}.` };
      const modes = modesByOperation[operation];
      if (typeof mode !== "string" || !modes.some((known) => fits(mode, known))) {
        return {
          problem: `mode must be one of ${modes.join(", ")}; slow waits at most ${waitMsMax} ms, late and stale reach at most ${lateMsMax} ms.`,
        };
      }
      if (!Number.isInteger(times) || Number(times) < 1 || Number(times) > timesMax) {
        return { problem: `times must be a whole number from 1 to ${timesMax}.` };
      }
      if (orderId !== undefined && typeof orderId !== "string") return { problem: "orderId must be a text, or left out." };
      planted.set(keyOf(operation, orderId), { operation, mode, times: Number(times), ...(orderId && { orderId }) });
      return undefined;
    },
    strike(operation, orderId) {
      const keys = [keyOf(operation, orderId), keyOf(operation)];
      const key = keys.find((candidate) => planted.has(candidate)) ?? "";
      const fault = planted.get(key);
      if (!fault) return undefined;
      if (fault.times === 1) planted.delete(key);
      else planted.set(key, { ...fault, times: fault.times - 1 });
      return fault.mode;
    },
    list: () => [...planted.values()],
    clear(operation) {
      for (const [key, fault] of planted) if (operation === undefined || fault.operation === operation) planted.delete(key);
    },
  };
}

const msMax = (known: string) => (known === "slow:<ms>" ? waitMsMax : lateMsMax);

function fits(mode: string, known: string): boolean {
  if (known.endsWith(":<ms>")) {
    const [name, ms = ""] = mode.split(":", 2);
    return `${name}:<ms>` === known && mode === `${name}:${ms}` && /^\d{1,8}$/.test(ms) && Number(ms) <= msMax(known);
  }
  if (known === "error:<errorCode>") return /^error:-?\d{1,5}$/.test(mode);
  if (known === "error:<status>") return /^error:[45]\d\d$/.test(mode);
  if (known.endsWith(":<word>")) return mode.startsWith(known.slice(0, -"<word>".length)) && /:[\w-]{1,64}$/.test(mode);
  return mode === known;
}
