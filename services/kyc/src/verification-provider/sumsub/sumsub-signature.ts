import { createHmac } from "node:crypto";
import { isHexHmac } from "../hex-hmac.ts";
import { parseJson, readMatching, readObject, readToken } from "../read-values.ts";
import type { UnsignedRequest } from "../vendor-calls.ts";
import type { CallbackReading, ReceivedCallback } from "../verification-provider.ts";

/**
 * Returns the authentication headers of a request (docs.sumsub.com/reference/authentication). The
 * signature is an HMAC over time, method, path with query, and body. `url` must be the complete URL
 * of the request.
 */
export function signRequest(
  { appToken, secretKey }: { appToken: string; secretKey: string },
  { method, url, body }: UnsignedRequest,
  nowMs: number,
): Record<string, string> {
  const { pathname, search } = new URL(url);
  const seconds = String(Math.floor(nowMs / 1000));
  const hmac = createHmac("sha256", secretKey).update(`${seconds}${method}${pathname}${search}`);
  if (body !== undefined) hmac.update(body);
  return { "x-app-token": appToken, "x-app-access-ts": seconds, "x-app-access-sig": hmac.digest("hex") };
}

/** Accepted signature algorithms. Sumsub also offers SHA-1, which kyc rejects. */
export const algorithms = new Map<unknown, string>([
  ["HMAC_SHA256_HEX", "sha256"],
  ["HMAC_SHA512_HEX", "sha512"],
]);

/**
 * Verifies and reads a callback (docs.sumsub.com/docs/webhook-manager). The callback has no signed
 * time, so an attacker can replay it. A replayed callback causes only a read at Sumsub.
 */
export function readSumsubCallback(
  { body, headers }: ReceivedCallback,
  { webhookSecrets, isSandbox }: { webhookSecrets: readonly string[]; isSandbox: boolean },
): CallbackReading {
  const algorithm = algorithms.get(headers["x-payload-digest-alg"]);
  if (!algorithm || !isHexHmac(body, headers["x-payload-digest"], algorithm, webhookSecrets)) return { kind: "forged" };
  const fields = readObject(parseJson(Buffer.from(body).toString("utf8")));
  const providerId = readToken(fields["applicantId"]);
  const reference = readToken(fields["externalUserId"]);
  const type = readMatching(/^[A-Za-z]{1,64}$/, fields["type"]);
  const correlationId = readToken(fields["correlationId"]);
  const { createdAtMs: created } = fields;
  const createdAt = readMatching(/^[\x20-\x7e]{1,64}$/, typeof created === "number" ? String(created) : created);
  if (!providerId || !reference || !type || !correlationId || !createdAt) return { kind: "unreadable" };
  if ((fields["sandboxMode"] ?? false) !== isSandbox) return { kind: "other_environment" };
  const eventId = `sumsub:${correlationId}:${type}:${createdAt}`;
  const isErasure = type === "applicantPersonalDataDeleted" || type === "applicantDeleted";
  return { kind: "genuine", hint: { eventId, providerId, reference, sequence: undefined, ...(isErasure && { isErasure }) } };
}
