import { readFileSync } from "node:fs";
import type { EnvReader } from "../config/env.ts";

/** Where spans are sent, by OTLP over HTTP with JSON. */
export interface TracingSettings {
  /** Whole, with its path. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** PEM; undefined for those that Node knows. */
  readonly certificateAuthority: string | undefined;
}

/**
 * OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS and _CERTIFICATE, as OpenTelemetry names them. Without an
 * endpoint there are no spans.
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

/** "name=value,other=value", percent-encoded. They hold keys, so no problem repeats them. */
function readHeaders(env: EnvReader): Record<string, string> {
  const name = "OTEL_EXPORTER_OTLP_HEADERS";
  const headers = env.list(name).map((entry) => {
    const [, header = "", text = ""] = /^([\w!#$%&'*+.^`|~-]+)\s*=\s*([\x21-\x7e]+)$/.exec(entry) ?? [];
    const value = header === "" ? undefined : decoded(text);
    if (value === undefined) env.problem(`${name} must be name=value, comma-separated, the values percent-encoded`);
    return [header, value ?? ""] as const;
  });
  return Object.fromEntries(headers);
}

function decoded(text: string): string | undefined {
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
