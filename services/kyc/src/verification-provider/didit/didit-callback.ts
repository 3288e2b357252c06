import { isHexHmac } from "../hex-hmac.ts";
import { parseJson, readCount, readMatching, readObject, readToken } from "../read-values.ts";
import type { CallbackReading, ReceivedCallback } from "../verification-provider.ts";

/**
 * Maximum difference between a callback's timestamp and the current time. It is this long, because
 * Didit repeats a callback up to five minutes later, possibly with the original timestamp.
 */
const toleranceSeconds = 900;

/**
 * Verifies and reads a callback (docs.didit.me/integration/webhooks). Accepts only signatures of
 * the raw body. Ignores X-Signature-V2, which Didit documents in two different ways, and
 * X-Signature-Simple, which signs only four fields.
 */
export function readDiditCallback(
  { body, headers }: ReceivedCallback,
  { webhookSecrets, environment }: { webhookSecrets: readonly string[]; environment: string },
  now: Date,
): CallbackReading {
  // For a day after a rotation, Didit also signs with the previous secret.
  const signatures = [headers["x-signature"], headers["x-signature-previous"]];
  if (!signatures.some((signature) => isHexHmac(body, signature, "sha256", webhookSecrets))) return { kind: "forged" };
  const fields = readObject(parseJson(Buffer.from(body).toString("utf8")));
  const timestamp = readCount(fields["timestamp"]);
  if (timestamp === undefined || Math.abs(now.getTime() / 1000 - timestamp) > toleranceSeconds) return { kind: "forged" };
  const providerId = readToken(fields["session_id"]);
  const reference = readToken(fields["vendor_data"]);
  const type = readMatching(/^[a-z._]{1,64}$/, fields["webhook_type"]);
  if (!providerId || !reference || !type) return { kind: "unreadable" };
  if (fields["environment"] !== environment) return { kind: "other_environment" };
  const eventId = readToken(fields["event_id"]) ?? `${providerId}:${type}:${timestamp}`;
  return { kind: "genuine", hint: { eventId: `didit:${eventId}`, providerId, reference, sequence: undefined } };
}
