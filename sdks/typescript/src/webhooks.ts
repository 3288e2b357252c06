import { createHmac, timingSafeEqual } from "node:crypto";

export interface VerifyOptions {
  /** Webhook secrets (`whsec_…`). Pass both secrets during a rotation. */
  readonly secrets: readonly string[];
  /** Maximum difference between the timestamp and the clock of this machine. Default: 300. */
  readonly toleranceSeconds?: number;
  readonly nowSeconds?: number;
}

/** A verified webhook. */
export interface Webhook {
  /**
   * Id of the event. All deliveries of an event have the same id. Ignore an id that you have
   * processed.
   */
  readonly id: string;
  readonly event: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Thrown if a webhook is not genuine. Respond with status 400 and discard the webhook. The message
 * contains the reason.
 */
export class WebhookRefused extends Error {
  override readonly name = "WebhookRefused";
}

type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies `webhook-signature` for the raw request body. Throws WebhookRefused, or TypeError for an
 * invalid secret.
 */
export function verifyWebhook(headers: WebhookHeaders, body: Uint8Array | string, options: VerifyOptions): Webhook {
  const keys = keysOf(options.secrets);
  const [id, timestamp, received] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => read(headers, name));
  if (!id || !timestamp || !received || !/^\d{1,15}$/.test(timestamp)) throw new WebhookRefused("webhook headers are missing");
  const now = options.nowSeconds ?? Date.now() / 1000;
  const hasMatch = keys.some((key) => {
    const bytes = Buffer.from(key.slice("whsec_".length), "base64");
    const expected = `v1,${createHmac("sha256", bytes).update(`${id}.${timestamp}.`).update(body).digest("base64")}`;
    return received.split(" ").some((candidate) => isEqual(candidate, expected));
  });
  if (!hasMatch) throw new WebhookRefused("no signature matches");
  // Written with `!`, so that a tolerance of NaN rejects every webhook.
  if (!(Math.abs(now - Number(timestamp)) <= (options.toleranceSeconds ?? 300)))
    throw new WebhookRefused("the timestamp is outside the tolerance");
  const parsed = JSON.parse(Buffer.from(body).toString("utf8")) as Webhook["body"];
  return { id, event: String(parsed["event"]), body: parsed };
}

/**
 * Verifies X-Signature. This signature does not cover the time, so prefer `verifyWebhook`. Throws
 * the same errors as `verifyWebhook`.
 */
export function verifyXSignature(headers: WebhookHeaders, body: Uint8Array | string, secrets: readonly string[]): void {
  const received = read(headers, "x-signature") ?? "";
  const expected = keysOf(secrets).map((key) => `sha256=${createHmac("sha256", key).update(body).digest("hex")}`);
  if (!expected.some((candidate) => isEqual(received, candidate))) throw new WebhookRefused("X-Signature does not match");
}

/** Rejects invalid secrets, because any sender could sign with an empty secret. */
function keysOf(secrets: readonly string[]): readonly string[] {
  if (secrets.length > 0 && secrets.every((secret) => /^whsec_[A-Za-z0-9+/]{43}=$/.test(secret))) return secrets;
  throw new TypeError("each secret must be whsec_ followed by 44 characters, as shown for the endpoint");
}

function isEqual(received: string, expected: string): boolean {
  const [a, b] = [Buffer.from(received), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Reads a header. Names in plain objects may be in upper or lower case. */
function read(headers: WebhookHeaders, name: string): string | undefined {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([received]) => received.toLowerCase() === name)?.[1];
  return typeof value === "string" ? value : undefined;
}
