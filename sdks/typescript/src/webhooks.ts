import { createHmac, timingSafeEqual } from "node:crypto";

export interface VerifyOptions {
  /** As they were shown, `whsec_…`; two while they are changed. */
  readonly secrets: readonly string[];
  /** How far the time of sending may lie from this machine's clock; 300 seconds unless given. */
  readonly toleranceSeconds?: number;
  readonly nowSeconds?: number;
}

/** A webhook that is genuine. */
export interface Webhook {
  /** The same on every delivery: what has been seen before is not done again. */
  readonly id: string;
  readonly event: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Answer it with 400, and believe nothing that came. The message says why, for your log. */
export class WebhookRefused extends Error {
  override readonly name = "WebhookRefused";
}

type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies `webhook-signature` over the body as it came, byte for byte. Throws WebhookRefused, and
 * TypeError for what is no secret.
 */
export function verifyWebhook(headers: WebhookHeaders, body: Uint8Array | string, options: VerifyOptions): Webhook {
  const keys = keysOf(options.secrets);
  const [id, timestamp, given] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => read(headers, name));
  if (!id || !timestamp || !given || !/^\d{1,15}$/.test(timestamp)) throw new WebhookRefused("webhook headers are missing");
  const now = options.nowSeconds ?? Date.now() / 1000;
  const isGood = keys.some((key) => {
    const bytes = Buffer.from(key.slice("whsec_".length), "base64");
    const good = `v1,${createHmac("sha256", bytes).update(`${id}.${timestamp}.`).update(body).digest("base64")}`;
    return given.split(" ").some((one) => isEqual(one, good));
  });
  if (!isGood) throw new WebhookRefused("no signature is good");
  // Written with `!`, so that a tolerance of NaN rejects every webhook.
  if (!(Math.abs(now - Number(timestamp)) <= (options.toleranceSeconds ?? 300))) throw new WebhookRefused("sent too long ago");
  const parsed = JSON.parse(Buffer.from(body).toString("utf8")) as Webhook["body"];
  return { id, event: String(parsed["event"]), body: parsed };
}

/** Verifies X-Signature, which has no time in it: `verifyWebhook` is better. Throws alike. */
export function verifyXSignature(headers: WebhookHeaders, body: Uint8Array | string, secrets: readonly string[]): void {
  const given = read(headers, "x-signature") ?? "";
  const good = keysOf(secrets).map((key) => `sha256=${createHmac("sha256", key).update(body).digest("hex")}`);
  if (!good.some((one) => isEqual(given, one))) throw new WebhookRefused("X-Signature is not good");
}

/** An empty secret would be a key that everybody has. */
function keysOf(secrets: readonly string[]): readonly string[] {
  if (secrets.length > 0 && secrets.every((secret) => /^whsec_[A-Za-z0-9+/]{43}=$/.test(secret))) return secrets;
  throw new TypeError("secrets must be those that the endpoint was given: whsec_ and 44 characters");
}

function isEqual(given: string, good: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(good)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Names in any case, as servers write them. */
function read(headers: WebhookHeaders, name: string): string | undefined {
  const value =
    headers instanceof Headers ? headers.get(name) : Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  return typeof value === "string" ? value : undefined;
}
