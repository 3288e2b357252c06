import { type AmanaError, ProblemError } from "@amana/client";
import { jsonLine, printable } from "../print.ts";
import { exitCodes, Refused } from "../refused.ts";

interface Asking {
  readonly url: string;
  readonly json?: boolean | undefined;
  /** The command that shows whether a change was done. */
  readonly ask?: string | undefined;
  /** Whether the command takes an Idempotency-Key. */
  readonly isKeyed: boolean;
  readonly stopped: boolean;
}

/** What the API said, or that it said nothing: for people in words, for programs as JSON. */
export function inWords(error: AmanaError, asking: Asking): Refused {
  const exitCode = exitCodeOf(error, asking.stopped);
  return new Refused(asking.json ? jsonLine({ error: forPrograms(error, exitCode) }) : forPeople(error, asking), exitCode);
}

/** The API's refusal in one line, for a table of outcomes. Anything else goes on as it came. */
export function refusalOf(error: unknown): string {
  if (!(error instanceof ProblemError) || error.outcomeUnknown || error.status >= 500) throw error;
  return `${titleOf(error)}: ${error.detail}`;
}

function exitCodeOf(error: AmanaError, stopped: boolean): number {
  if (error.outcomeUnknown) return exitCodes.unknown;
  if (stopped) return exitCodes.interrupted;
  if (!(error instanceof ProblemError)) return exitCodes.unreachable;
  // A 502 of the API is the word of somebody behind it, such as the card processor's no.
  const isAway = error.status >= 500 && !(error.status === 502 && error.code !== "");
  return isAway ? exitCodes.unreachable : exitCodes.refused;
}

const titleOf = ({ members, code }: ProblemError) =>
  typeof members["title"] === "string" ? members["title"] : code || "No answer of the API";

function forPeople(error: AmanaError, { url, ask, isKeyed, stopped }: Asking): string {
  const lines =
    error instanceof ProblemError ? problemLines(error) : [`${url} gave no answer. ${stopped ? "Stopped." : error.message}`];
  if (error.outcomeUnknown) {
    lines.push(`It may have been done all the same.${ask ? ` Ask before anything else: ${ask}` : ""}`);
    if (isKeyed && error.idempotencyKey) lines.push(`To send the same again: --idempotency-key ${error.idempotencyKey}`);
  }
  return lines.map(printable).join("\n");
}

function problemLines(error: ProblemError): string[] {
  const places = error.errors.map(({ pointer, parameter, message }) => `  ${pointer ?? parameter ?? ""}: ${message}`);
  const wait = error.retryAfter === undefined ? "" : `, try again in ${error.retryAfter} s`;
  const request = error.requestId === undefined ? "" : `, request ${error.requestId}`;
  return [`${titleOf(error)}: ${error.detail}`, ...places, `(${error.status} ${error.code}${wait}${request})`];
}

function forPrograms(error: AmanaError, exitCode: number): object {
  const both = { exit_code: exitCode, outcome_unknown: error.outcomeUnknown, idempotency_key: error.idempotencyKey };
  if (!(error instanceof ProblemError)) return { title: "No answer", detail: error.message, ...both };
  const { status, code, detail, errors, requestId, members } = error;
  return { ...members, title: titleOf(error), status, code, detail, errors, request_id: requestId, ...both };
}
