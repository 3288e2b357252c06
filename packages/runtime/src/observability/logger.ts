import { pino } from "pino";
import type { EnvReader } from "../config/env.ts";
import { counter } from "./metrics.ts";
import { traceFields } from "./trace.ts";

export type Logger = pino.Logger;

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** Reads LOG_LEVEL. Default: info. */
export const readLogLevel = (env: EnvReader): LogLevel => env.choice("LOG_LEVEL", logLevels, "info");

/**
 * Names of fields whose values are redacted, down to `depthMax` levels. Code must not log secrets;
 * this is defense in depth. pino's own redaction with wildcards takes 50 µs for a line, the
 * redaction in this file about 1 µs.
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
  help: 'Log lines with "alert": true, which need the attention of an operator',
});

/**
 * Creates a logger that writes JSON lines to standard output, with the ids of the current trace and
 * request. `level` is a pino level ("trace" … "fatal", "silent"). An error under the key `err` is
 * logged with its stack, but without the table row that PostgreSQL repeats in its error texts.
 * `destination` is for tests.
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
        return hasSecret(line, depthMax) ? (redact(line, depthMax) as Record<string, unknown>) : line;
      },
    },
  };
  return destination ? pino(options, destination) : pino(options);
}

function hasSecret(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null || value instanceof Error || depth === 0) return false;
  for (const name in value) {
    if (secretFields.has(name) || hasSecret((value as Record<string, unknown>)[name], depth - 1)) return true;
  }
  return false;
}

function redact(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null || value instanceof Error || depth === 0) return value;
  if (Array.isArray(value)) return value.map((item) => redact(item, depth - 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, secretFields.has(name) ? censor : redact(item, depth - 1)]),
  );
}

/**
 * Matches a table row in an error text of PostgreSQL. Matches up to the end of the message, because
 * the values of the row may have several lines.
 */
const rowPattern = /( - detail: |DETAIL: )?(Failing row contains|Key) \(.*?(?=\n {4}at |$)/gs;

/**
 * Serializes an error. Removes the table row that PostgreSQL repeats in its error texts, because
 * the row may contain personal data.
 */
function withoutRows(error: Error) {
  const serialized = pino.stdSerializers.err(error);
  if (!(error instanceof Error)) return serialized;
  const { detail: _detail, where: _where, ...rest } = serialized as typeof serialized & { detail?: unknown; where?: unknown };
  const message = serialized.message.replace(/( - detail: |DETAIL: )?(Failing row contains|Key) \(.*$/s, "[row]");
  // The complete message is replaced first, because a value may look like the first line of a
  // stack.
  return { ...rest, message, stack: serialized.stack.replaceAll(serialized.message, () => message).replace(rowPattern, "[row]") };
}
