import { type AmanaError, ProblemError } from "@amana/client";
import { CommandError, exitCodes } from "../command-error.ts";
import { jsonLine, printable } from "../print.ts";

interface RequestContext {
  readonly url: string;
  readonly json?: boolean;
  /** Command that shows whether the change was executed. */
  readonly statusCommand?: string;
  /** Whether the command sends an Idempotency-Key. */
  readonly isKeyed: boolean;
  /** Whether a signal has stopped the command. */
  readonly isStopped: boolean;
}

/** Returns an error with an exit code. Its message is text, or JSON if `context.json` is set. */
export function toCommandError(error: AmanaError, context: RequestContext): CommandError {
  const exitCode = exitCodeOf(error, context.isStopped);
  return new CommandError(context.json ? jsonLine({ error: toJson(error, exitCode) }) : toText(error, context), exitCode);
}

/**
 * Returns one line, for a table of outcomes, if the API rejected the request. Rethrows any other
 * error.
 */
export function rejectionText(error: unknown): string {
  if (!(error instanceof ProblemError) || error.outcomeUnknown || error.status >= 500) throw error;
  return `${titleOf(error)}: ${error.detail}`;
}

function exitCodeOf(error: AmanaError, isStopped: boolean): number {
  if (error.outcomeUnknown) return exitCodes.unknown;
  if (isStopped) return exitCodes.interrupted;
  if (!(error instanceof ProblemError)) return exitCodes.unreachable;
  // Status 502 with an error code means that an external system responded with an error, for
  // example that the processor declined a call.
  const isUnreachable = error.status >= 500 && !(error.status === 502 && error.code !== "");
  return isUnreachable ? exitCodes.unreachable : exitCodes.failed;
}

const titleOf = ({ members, code }: ProblemError) =>
  typeof members["title"] === "string" ? members["title"] : code || "Unexpected response";

function toText(error: AmanaError, { url, statusCommand, isKeyed, isStopped }: RequestContext): string {
  const lines =
    error instanceof ProblemError ? problemLines(error) : [`No response from ${url}. ${isStopped ? "Stopped." : error.message}`];
  if (error.outcomeUnknown) {
    lines.push(`The change may have been executed.${statusCommand ? ` Check this first: ${statusCommand}` : ""}`);
    if (isKeyed && error.idempotencyKey) lines.push(`To repeat the change: --idempotency-key ${error.idempotencyKey}`);
  }
  return lines.map(printable).join("\n");
}

function problemLines(error: ProblemError): string[] {
  const fields = error.errors.map(({ pointer, parameter, message }) => `  ${pointer ?? parameter ?? ""}: ${message}`);
  const wait = error.retryAfter === undefined ? "" : `, retry in ${error.retryAfter} s`;
  const request = error.requestId === undefined ? "" : `, request ${error.requestId}`;
  return [`${titleOf(error)}: ${error.detail}`, ...fields, `(${error.status} ${error.code}${wait}${request})`];
}

function toJson(error: AmanaError, exitCode: number): object {
  const common = { exit_code: exitCode, outcome_unknown: error.outcomeUnknown, idempotency_key: error.idempotencyKey };
  if (!(error instanceof ProblemError)) return { title: "No response", detail: error.message, ...common };
  const { status, code, detail, errors, requestId, members } = error;
  return { ...members, title: titleOf(error), status, code, detail, errors, request_id: requestId, ...common };
}
