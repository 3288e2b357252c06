import { createHmac, timingSafeEqual } from "node:crypto";
import { deriveKeys, type PurposeKeys } from "./checkout-keys.ts";

const name = "amana_checkout";
/**
 * Lifetime of the cookie. It is longer than the time in which a card holder can pay at the
 * processor.
 */
const maxAgeSeconds = 60 * 60;
const form = /^amana_checkout=([0-9a-f]{64})\.([\w-]{43})$/;

/**
 * Cookie that identifies a payment which this browser has started through a link. The cookie
 * contains the payment's page token and a signature of the link token and the page token. The
 * browser sends the cookie only to the pages of the link.
 */
export class PaymentCookie {
  readonly #keys: PurposeKeys;

  constructor(keys: readonly Buffer[]) {
    this.#keys = deriveKeys("cookie", keys);
  }

  /** Returns the value of Set-Cookie. */
  write(linkToken: string, paymentToken: string, { isSecure }: { isSecure: boolean }): string {
    const signature = sign(this.#keys[0], linkToken, paymentToken).toString("base64url");
    const attributes = `Path=/pay/${linkToken}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
    return `${name}=${paymentToken}.${signature}; ${attributes}`;
  }

  /** Returns the page token in a Cookie header, or undefined if no cookie has a valid signature. */
  read(header: string | undefined, linkToken: string): string | undefined {
    for (const cookie of (header ?? "").split(";")) {
      const [, paymentToken = "", signature = ""] = form.exec(cookie.trim()) ?? [];
      if (paymentToken === "") continue;
      const presented = Buffer.from(signature, "base64url");
      if (this.#keys.some((key) => timingSafeEqual(sign(key, linkToken, paymentToken), presented))) return paymentToken;
    }
    return undefined;
  }
}

const sign = (key: Buffer, linkToken: string, paymentToken: string): Buffer =>
  createHmac("sha256", key).update(`${linkToken}\n${paymentToken}`).digest();
