import { pino } from "pino";

export type Logger = pino.Logger;

/**
 * Field names whose values never reach a log, at any depth up to three. Code must not log secrets in the
 * first place; this is the second wall.
 */
const secretFields = [
  "password",
  "secret",
  "api_key",
  "apiKey",
  "authorization",
  "x-api-key",
  "cookie",
  "link_url",
  "linkUrl",
  "pan",
  "cvv2",
];

const redactPaths = secretFields.flatMap((field) => {
  const key = field.includes("-") ? `["${field}"]` : field;
  const join = (prefix: string) => (key.startsWith("[") ? `${prefix}${key}` : `${prefix}.${key}`);
  return [key, join("*"), join("*.*")];
});

/**
 * JSON lines on standard output, one wide line per unit of work. `level` is a pino level ("trace" … "fatal",
 * "silent"). Errors under the key `err` are written with their stack.
 */
export function createLogger(service: string, level = "info"): Logger {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: withoutRows },
    redact: { paths: redactPaths, censor: "[redacted]" },
  });
}

/** PostgreSQL repeats the whole row in some errors; what a row holds is nobody's business but its owner's. */
function withoutRows(error: Error) {
  const strip = (text: string) => text.replace(/( - detail: |DETAIL: )?(Failing row contains|Key) \(.*\)[^\n]*/g, "[row]");
  const written = pino.stdSerializers.err(error);
  if (!(error instanceof Error)) return written;
  const { detail: _detail, where: _where, ...rest } = written as typeof written & { detail?: unknown; where?: unknown };
  return { ...rest, message: strip(written.message), stack: strip(written.stack) };
}
