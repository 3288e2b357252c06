import { pino } from "pino";
import type { EnvReader } from "../config/env.ts";
import { counter } from "./metrics.ts";
import { traceFields } from "./trace.ts";

export type Logger = pino.Logger;

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** How much of what happens is logged, from the setting LOG_LEVEL. */
export const readLogLevel = (env: EnvReader): LogLevel => env.choice("LOG_LEVEL", logLevels, "info");

/**
 * Field names whose values never reach a log, down to `depthMax` levels. Code must not log secrets
 * in the first place; this is the second wall. Not pino's own redaction: with wildcards it costs
 * fifty microseconds a line, this one about one.
 */
const secretFields = new Set(
  [
    ["password", "secret", "token", "authorization", "x-api-key", "cookie", "set-cookie", "pan", "cvv2"],
    ["api_key", "apiKey", "admin_key", "adminKey", "private_key", "privateKey"],
    ["link_url", "linkUrl", "form_url", "formUrl", "return_token", "returnToken", "invitation_token", "invitationToken"],
  ].flat(),
);
const depthMax = 4;
const censor = "[redacted]";

const alerts = counter({
  name: "amana_log_alerts_total",
  help: 'Lines of the log with "alert": true, which need a person',
});

/**
 * JSON lines on standard output, one wide line per unit of work, with the ids of the trace and the
 * request it is logged in. `level` is a pino level ("trace" … "fatal", "silent"). Errors under the
 * key `err` are written with their stack and without the rows of database errors. `destination` is
 * for tests.
 */
export function createLogger(service: string, level = "info", destination?: pino.DestinationStream): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: { service },
    mixin: traceFields,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: withoutRows },
    formatters: {
      log(line) {
        if (line["alert"] === true) alerts.inc();
        return holdsSecret(line, depthMax) ? (redacted(line, depthMax) as Record<string, unknown>) : line;
      },
    },
  };
  return destination ? pino(options, destination) : pino(options);
}

function holdsSecret(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null || value instanceof Error || depth === 0) return false;
  for (const name in value) {
    if (secretFields.has(name) || holdsSecret((value as Record<string, unknown>)[name], depth - 1)) return true;
  }
  return false;
}

function redacted(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null || value instanceof Error || depth === 0) return value;
  if (Array.isArray(value)) return value.map((item) => redacted(item, depth - 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, secretFields.has(name) ? censor : redacted(item, depth - 1)]),
  );
}

/** Where PostgreSQL repeats a row, to the end of the message: values may have several lines. */
const row = /( - detail: |DETAIL: )?(Failing row contains|Key) \(.*?(?=\n {4}at |$)/gs;

/** PostgreSQL repeats the row in some errors; what it holds is only its owner's business. */
function withoutRows(error: Error) {
  const written = pino.stdSerializers.err(error);
  if (!(error instanceof Error)) return written;
  const { detail: _detail, where: _where, ...rest } = written as typeof written & { detail?: unknown; where?: unknown };
  const message = written.message.replace(/( - detail: |DETAIL: )?(Failing row contains|Key) \(.*$/s, "[row]");
  // The whole message first, because a value may look like the first line of a stack.
  return { ...rest, message, stack: written.stack.replaceAll(written.message, () => message).replace(row, "[row]") };
}
