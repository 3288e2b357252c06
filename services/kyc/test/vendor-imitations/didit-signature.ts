import { createHmac } from "node:crypto";

// Page: https://docs.didit.me/integration/webhooks (2026-11-28).

/** A number that Didit's server always serializes with a fraction, for example `89.0`. */
export class Float {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }

  toJSON(): number {
    return this.value;
  }
}

const write = (value: unknown, float: (value: number) => string): string => {
  if (value instanceof Float) return float(value.value);
  if (Array.isArray(value)) return `[${value.map((item) => write(item, float)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${write(item, float)}`).join(",")}}`;
};

const escaped = (text: string) =>
  text.replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

/**
 * Encoding of the JSON text that `X-Signature-V2` signs. A table on the page requires
 * "ASCII-escaped JSON". The code samples on the same page sign JSON in UTF-8 with sorted keys, and
 * write whole floats as integers.
 */
export type SignatureV2Text = "UTF-8" | "ASCII-escaped";

const hmac = (secret: string, text: string) => createHmac("sha256", secret).update(text, "utf8").digest("hex");

/** Serializes a payload with sorted keys and without spaces, as documented on the page. */
export const payloadText = (payload: unknown): string =>
  write(payload, (value) => (Number.isInteger(value) ? value.toFixed(1) : String(value)));

/** Returns the body and the headers of a webhook. */
export function signDiditWebhook(
  payload: Readonly<Record<string, unknown>>,
  secret: string,
  v2: SignatureV2Text,
): { body: string; headers: Record<string, string> } {
  const body = payloadText(payload);
  const canonical = write(payload, String);
  const { timestamp, session_id, status, webhook_type } = payload;
  return {
    body,
    headers: {
      "Content-Type": "application/json",
      "User-Agent": "DiditWebhook/2.0 +https://didit.me",
      "X-Timestamp": String(timestamp),
      // Signature of the raw body.
      "X-Signature": hmac(secret, body),
      "X-Signature-V2": hmac(secret, v2 === "UTF-8" ? canonical : escaped(canonical)),
      // Signature of the text "timestamp:session_id:status:webhook_type".
      "X-Signature-Simple": hmac(secret, [timestamp, session_id, status, webhook_type].map((part) => part ?? "").join(":")),
    },
  };
}
