import { createHmac, timingSafeEqual } from "node:crypto";

const toleranceSeconds = 300;
const signaturesMax = 10;

/**
 * Whether "t=<unix seconds>,v1=<hex>" signs these bytes: HMAC-SHA256 over t, "." and the body.
 * Several v1 and secrets, because both sides change theirs. At most five minutes old or ahead.
 */
export function isSignedByProvider(body: Uint8Array, header: string, secrets: readonly string[], now: Date): boolean {
  const parts = header.split(",").map((part) => part.trim());
  const time = parts.find((part) => part.startsWith("t="))?.slice(2) ?? "";
  if (!/^\d{1,12}$/.test(time)) return false;
  if (Math.abs(now.getTime() / 1000 - Number(time)) > toleranceSeconds) return false;
  const given = parts.filter((part) => /^v1=[0-9a-f]{64}$/.test(part)).slice(0, signaturesMax);
  let isSigned = false;
  for (const secret of secrets) {
    const expected = createHmac("sha256", secret).update(`${time}.`).update(body).digest();
    // All are compared, so that the time taken tells nothing about which one came close.
    for (const part of given) if (timingSafeEqual(Buffer.from(part.slice(3), "hex"), expected)) isSigned = true;
  }
  return isSigned;
}
