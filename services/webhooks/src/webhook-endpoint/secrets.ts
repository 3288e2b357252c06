import { randomBytes } from "node:crypto";
import type { Logger } from "@amana/runtime";
import { decryptIfReadable, type SecretBox } from "@amana/secret-box";

/** `whsec_` and 32 random bytes in base64 (Standard Webhooks, symmetric secrets). */
export const newSecret = () => `whsec_${randomBytes(32).toString("base64")}`;

/**
 * Selects, from webhook_endpoint `e`, the secret that X-Signature is keyed with now and the other
 * one of a rotation: the new one until it becomes active, then the previous one, for a day in all.
 */
export const signingSecrets = `
  case when e.secret_active_from > now() then e.previous_secret_ciphertext else e.secret_ciphertext end as secret_ciphertext,
  case when e.secret_active_from > now() then e.secret_ciphertext
    when e.previous_secret_until > now() then e.previous_secret_ciphertext end as other_secret_ciphertext`;

export interface SealedSecrets {
  readonly endpoint_id: string;
  readonly secret_ciphertext: string;
  readonly other_secret_ciphertext: string | null;
}

/** Signing secrets as they were shown. */
export interface SigningSecrets {
  readonly current: string;
  /** While a rotation makes two of them good. */
  readonly other: string | undefined;
}

interface SecretReader {
  readonly secrets: SecretBox;
  readonly logger: Logger;
}

/** Throws when the current secret cannot be read: nothing can be sent without it. */
export const openSecrets = (
  { secrets, logger }: SecretReader,
  { endpoint_id: id, secret_ciphertext: current, other_secret_ciphertext: other }: SealedSecrets,
): SigningSecrets => ({
  current: secrets.decrypt(current, id),
  // A good one is not worth less because the other cannot be read.
  other: other ? decryptIfReadable(secrets, other, id, logger) : undefined,
});

/** Returns undefined when the current secret cannot be decrypted, and logs an alert with `ids`. */
export function readSecrets(context: SecretReader, sealed: SealedSecrets, ids: object): SigningSecrets | undefined {
  try {
    return openSecrets(context, sealed);
  } catch (error) {
    context.logger.error({ err: error, alert: true, ...ids }, "signing secret cannot be decrypted");
    return undefined;
  }
}
