/** For the servers of businesses: tells which webhooks are genuine. Needs nothing but Node. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";

export interface VerifyOptions {
  /** As they were shown, `whsec_…`: one, or the new and the old one while they are changed. */
  readonly secrets: string | readonly string[];
  /** How far the time of sending may lie from this machine's, in seconds; 300 unless given. */
  readonly toleranceSeconds?: number;
}

/** A webhook that is genuine. */
export interface Webhook {
  /** Of the event, the same on every delivery: what has been seen before is not done again. */
  readonly id: string;
  /** "PAYMENT_REFUNDED" */
  readonly event: string;
  readonly sentAt: Date;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Answer it with its status and believe nothing that came. The message says why. */
export class WebhookRefused extends Error {
  readonly status: 400 | 413;

  constructor(message: string, status: 400 | 413 = 400) {
    super(message);
    this.name = "WebhookRefused";
    this.status = status;
  }
}

type Headers = IncomingHttpHeaders | globalThis.Headers;

const toleranceSecondsDefault = 300;
const bodyBytesMax = 1024 * 1024;

/**
 * Reads a request of node:http or Fetch, whose body nobody has read, and verifies it. Throws
 * WebhookRefused, and TypeError for what is no secret.
 */
export async function readWebhook(request: IncomingMessage | Request, options: VerifyOptions): Promise<Webhook> {
  return verifyWebhook(request.headers, await readBody(request instanceof Request ? (request.body ?? []) : request), options);
}

/**
 * Verifies the Standard Webhooks headers over the body as it came, byte for byte: a signature must
 * be by one of the secrets, and the time of sending must be near. Throws as `readWebhook` does.
 */
export function verifyWebhook(headers: Headers, body: Uint8Array | string, options: VerifyOptions): Webhook {
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => read(headers, name));
  if (!id || !timestamp || !signatures) throw new WebhookRefused("webhook-id, -timestamp and -signature must be there");
  const expected = keysOf(options).map((key) =>
    createHmac("sha256", Buffer.from(key.slice(secretPrefix.length), "base64"))
      .update(`${id}.${timestamp}.`)
      .update(body)
      .digest("base64"),
  );
  const given = signatures.split(" ");
  if (!expected.some((signature) => given.some((one) => isEqual(one, `v1,${signature}`)))) {
    throw new WebhookRefused("no signature in webhook-signature is good");
  }
  if (!/^\d{1,15}$/.test(timestamp)) throw new WebhookRefused("webhook-timestamp must be seconds since 1970");
  const ageSeconds = Math.abs(Date.now() / 1000 - Number(timestamp));
  // Written with `!`, so that a tolerance of NaN rejects every webhook.
  if (!(ageSeconds <= (options.toleranceSeconds ?? toleranceSecondsDefault))) {
    throw new WebhookRefused("the webhook was sent too long ago, or this machine's clock is wrong");
  }
  const parsed = JSON.parse(Buffer.from(body).toString("utf8")) as Webhook["body"];
  return { id, event: String(parsed["event"]), sentAt: new Date(Number(timestamp) * 1000), body: parsed };
}

/**
 * Verifies X-Signature over the body as it came. It does not say when it was sent, and once a
 * secret was rotated only the new one is good: prefer `verifyWebhook`. Throws as it does.
 */
export function verifyXSignature(headers: Headers, body: Uint8Array | string, options: Pick<VerifyOptions, "secrets">): void {
  const given = read(headers, "x-signature");
  const expected = keysOf(options).map((key) => `sha256=${createHmac("sha256", key).update(body).digest("hex")}`);
  if (!given || !expected.some((signature) => isEqual(given, signature))) throw new WebhookRefused("X-Signature is not good");
}

const secretPrefix = "whsec_";

/** A text that is missing in the settings would be a key that everybody has. */
function keysOf({ secrets }: Pick<VerifyOptions, "secrets">): readonly string[] {
  const all = typeof secrets === "string" ? [secrets] : secrets;
  if (all.length === 0 || !all.every((secret) => /^whsec_[A-Za-z0-9+/]{43}=$/.test(secret))) {
    throw new TypeError("secrets must be those that the endpoint was given: whsec_ and 44 characters");
  }
  return all;
}

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function read(headers: Headers, name: string): string | undefined {
  const value = headers instanceof globalThis.Headers ? headers.get(name) : headers[name];
  return typeof value === "string" ? value : undefined;
}

async function readBody(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > bodyBytesMax) throw new WebhookRefused("the body is larger than any webhook", 413);
    pieces.push(chunk);
  }
  return Buffer.concat(pieces);
}
