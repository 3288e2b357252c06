import { createChallenge, randomInt, verifySolution } from "altcha-lib";
import { deriveKey } from "altcha-lib/algorithms/pbkdf2";
import { keysFor, type PurposeKeys } from "./checkout-keys.ts";

/** Iterations of one attempt of a browser. The gateway needs one attempt for each challenge. */
const iterations = 1_000;
/** Range of the attempts that a browser needs: about half a second of an ordinary phone. */
const [attemptsMin, attemptsMax] = [200, 500];
/** Time in which the buyer submits the form. */
const lifetimeMs = 30 * 60 * 1_000;
/** A genuine solution has fewer than 1,000 characters. */
const solutionLengthMax = 4_096;

interface FormId {
  readonly linkToken: string;
  readonly formToken: string;
}

/**
 * Proof of work (ALTCHA) that a browser does before it starts a payment. A challenge is signed for
 * one form of one link. The form token is the idempotency key of the payment, so a solution starts
 * one payment at most.
 */
export class Captcha {
  readonly #keys: PurposeKeys;

  constructor(keys: readonly Buffer[]) {
    this.#keys = keysFor("captcha", keys);
  }

  /** Returns a new challenge as JSON, for the widget. */
  async createChallenge({ linkToken, formToken }: FormId): Promise<string> {
    const secret = this.#keys[0].toString("hex");
    const challenge = await createChallenge({
      algorithm: "PBKDF2/SHA-256",
      cost: iterations,
      counter: randomInt(attemptsMax, attemptsMin),
      deriveKey,
      data: { link: linkToken, form: formToken },
      expiresAt: new Date(Date.now() + lifetimeMs),
      hmacSignatureSecret: secret,
      hmacKeySignatureSecret: secret,
    });
    return JSON.stringify(challenge);
  }

  /** Returns whether the text is a solution of a challenge for this form that has not expired. */
  async isSolved(solutionText: string, { linkToken, formToken }: FormId): Promise<boolean> {
    if (solutionText.length > solutionLengthMax) return false;
    try {
      const { challenge, solution } = JSON.parse(Buffer.from(solutionText, "base64").toString());
      const data = challenge.parameters.data;
      if (data.link !== linkToken || data.form !== formToken) return false;
      for (const key of this.#keys) {
        const secret = key.toString("hex");
        const secrets = { hmacSignatureSecret: secret, hmacKeySignatureSecret: secret };
        if ((await verifySolution({ challenge, solution, deriveKey, ...secrets })).verified) return true;
      }
    } catch {
      // The caller sent a text of another form.
    }
    return false;
  }
}
