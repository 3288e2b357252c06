import { readFileSync } from "node:fs";
import type { EnvReader } from "../config/env.ts";

/** Collector of spans, which receives OTLP over HTTP with JSON. */
export interface TracingSettings {
  /** Complete URL, with its path. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Certificates of the CAs, as PEM text. Undefined selects Node's default CAs. */
  readonly certificateAuthority: string | undefined;
}

/**
 * Reads OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS and _CERTIFICATE, which OpenTelemetry defines.
 * Returns undefined without an endpoint: the process then creates no spans.
 */
export function readTracing(env: EnvReader): TracingSettings | undefined {
  const name = "OTEL_EXPORTER_OTLP_ENDPOINT";
  if (env.optional(name) === undefined) return undefined;
  const url = `${env.url(name)}/v1/traces`;
  const headers = readHeaders(env);
  if (env.isProduction && url.startsWith("http:") && Object.keys(headers).length > 0) {
    env.problem(`${name} must be an https address in production when OTEL_EXPORTER_OTLP_HEADERS are sent there`);
  }
  return { url, headers, certificateAuthority: readCertificate(env) };
}

/**
 * Reads "name=value,other=value", with percent-encoded values. The values are secrets, so problems
 * do not repeat them.
 */
function readHeaders(env: EnvReader): Record<string, string> {
  const name = "OTEL_EXPORTER_OTLP_HEADERS";
  const headers = env.list(name).map((entry) => {
    const [, header = "", text = ""] = /^([\w!#$%&'*+.^`|~-]+)\s*=\s*([\x21-\x7e]+)$/.exec(entry) ?? [];
    const value = header === "" ? undefined : decodeValue(text);
    if (value === undefined) env.problem(`${name} must be comma-separated name=value, with percent-encoded values`);
    return [header, value ?? ""] as const;
  });
  return Object.fromEntries(headers);
}

function decodeValue(text: string): string | undefined {
  try {
    const value = decodeURIComponent(text);
    return /^[\x20-\x7e]*$/.test(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function readCertificate(env: EnvReader): string | undefined {
  const name = "OTEL_EXPORTER_OTLP_CERTIFICATE";
  const file = env.optional(name);
  try {
    return file && readFileSync(file, "utf8");
  } catch (error) {
    env.problem(`${name}: cannot read ${file} (${(error as NodeJS.ErrnoException).code})`);
    return undefined;
  }
}
