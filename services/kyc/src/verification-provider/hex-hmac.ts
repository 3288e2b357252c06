import { createHmac, timingSafeEqual } from "node:crypto";

/** Returns whether the text is a hexadecimal HMAC of the content with one of the secrets. */
export function isHexHmac(content: Uint8Array, text: string | undefined, algorithm: string, secrets: readonly string[]): boolean {
  if (text === undefined || !/^[0-9a-f]{64,128}$/i.test(text)) return false;
  const received = Buffer.from(text, "hex");
  let isSigned = false;
  // Compares with all secrets, so that the duration does not reveal which secret matches.
  for (const secret of secrets) {
    const expected = createHmac(algorithm, secret).update(content).digest();
    if (received.length === expected.length && timingSafeEqual(received, expected)) isSigned = true;
  }
  return isSigned;
}
