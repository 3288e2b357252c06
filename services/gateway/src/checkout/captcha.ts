import { createChallenge, verifySolution } from "altcha-lib";
import { deriveKey } from "altcha-lib/algorithms/pbkdf2";
import { deriveKeys, type PurposeKeys } from "./checkout-keys.ts";

/** PBKDF2 iterations of one attempt. The gateway makes one attempt to verify a solution. */
const iterations = 1_000;
/**
 * First byte of the key that a solution must derive. A browser needs 256 attempts on average, about
 * half a second on an ordinary phone. ALTCHA has an option that limits the number of attempts. The
 * gateway does not use this option, because it would then have to compute a key for each page that
 * it serves.
 */
const keyPrefix = "00";
/** Lifetime of a challenge. The buyer must submit the form within this time. */
const lifetimeMs = 30 * 60 * 1_000;
/** Maximum length of a solution. A genuine solution has fewer than 1,000 characters. */
const solutionLengthMax = 4_096;

interface FormId {
  readonly linkToken: string;
  readonly formToken: string;
}

/**
 * Proof of work (ALTCHA) that a browser does before it starts a payment. A challenge is signed for
 * one form of one link. The form token is the idempotency key of the payment, so a solution starts
 * at most one payment.
 */
export class Captcha {
  readonly #keys: PurposeKeys;

  constructor(keys: readonly Buffer[]) {
    this.#keys = deriveKeys("captcha", keys);
  }

  /** Returns a new challenge as JSON, for the widget. */
  async createChallenge({ linkToken, formToken }: FormId): Promise<string> {
    const challenge = await createChallenge({
      algorithm: "PBKDF2/SHA-256",
      cost: iterations,
      keyPrefix,
      deriveKey,
      data: { link: linkToken, form: formToken },
      expiresAt: new Date(Date.now() + lifetimeMs),
      hmacSignatureSecret: this.#keys[0].toString("hex"),
    });
    return JSON.stringify(challenge);
  }

  /** Returns whether the text solves an unexpired challenge for this form. */
  async isSolved(solutionText: string, { linkToken, formToken }: FormId): Promise<boolean> {
    if (solutionText.length > solutionLengthMax) return false;
    try {
      const { challenge, solution } = JSON.parse(Buffer.from(solutionText, "base64").toString());
      const data = challenge.parameters.data;
      if (data.link !== linkToken || data.form !== formToken) return false;
      for (const key of this.#keys) {
        const hmacSignatureSecret = key.toString("hex");
        if ((await verifySolution({ challenge, solution, deriveKey, hmacSignatureSecret })).verified) return true;
      }
    } catch {
      // The text is not a solution, for example not JSON.
    }
    return false;
  }
}
