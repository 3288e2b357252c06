import { createHmac } from "node:crypto";

/**
 * Keys of one purpose, in the order of CHECKOUT_KEYS. The gateway signs with the first key and
 * accepts signatures of all keys.
 */
export type PurposeKeys = readonly [Buffer, ...Buffer[]];

/**
 * Derives the keys of a purpose, so that a signature for one purpose is not valid for another
 * purpose.
 */
export function deriveKeys(purpose: "captcha" | "cookie", keys: readonly Buffer[]): PurposeKeys {
  const derived = keys.map((key) => createHmac("sha256", key).update(`amana checkout ${purpose}`).digest());
  if (derived.length === 0) throw new TypeError("CHECKOUT_KEYS contains no key");
  return derived as [Buffer, ...Buffer[]];
}
