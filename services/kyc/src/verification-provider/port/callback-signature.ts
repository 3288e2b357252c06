import { isHexHmac } from "../hex-hmac.ts";

const toleranceSeconds = 300;
const signaturesMax = 10;

/**
 * Returns whether the header "t=<unix seconds>,v1=<hex>" contains a valid signature of the body.
 * The signature is an HMAC-SHA256 over t, "." and the body. The header may contain several v1
 * values, and `secrets` several secrets, so that both sides can rotate secrets. The time t may
 * differ from `now` by at most five minutes.
 */
export function isSignedByProvider(body: Uint8Array, header: string, secrets: readonly string[], now: Date): boolean {
  const parts = header.split(",").map((part) => part.trim());
  const time = parts.find((part) => part.startsWith("t="))?.slice(2) ?? "";
  if (!/^\d{1,12}$/.test(time)) return false;
  if (Math.abs(now.getTime() / 1000 - Number(time)) > toleranceSeconds) return false;
  const signatures = parts.flatMap((part) => /^v1=([0-9a-f]{64})$/.exec(part)?.[1] ?? []).slice(0, signaturesMax);
  const content = Buffer.concat([Buffer.from(`${time}.`), body]);
  // Compares all signatures, so that the duration does not reveal which signature matches.
  return signatures.map((signature) => isHexHmac(content, signature, "sha256", secrets)).includes(true);
}
