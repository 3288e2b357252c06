import { randomBytes } from "node:crypto";
import type { Logger } from "@amana/runtime";
import { decryptIfReadable, type SecretBox } from "@amana/secret-box";

/** Creates a secret: `whsec_` and 32 random bytes in base64 (Standard Webhooks, symmetric). */
export const newSecret = () => `whsec_${randomBytes(32).toString("base64")}`;

/**
 * SQL: two columns from webhook_endpoint `e`. `secret_ciphertext` is the secret that signs
 * X-Signature. `other_secret_ciphertext` is the second valid secret, set for a day after a
 * rotation. It is the new secret until that secret becomes active, and the previous secret
 * afterwards.
 */
export const signingSecretsSql = `
  case when e.secret_active_from > now() then e.previous_secret_ciphertext else e.secret_ciphertext end as secret_ciphertext,
  case when e.secret_active_from > now() then e.secret_ciphertext
    when e.previous_secret_until > now() then e.previous_secret_ciphertext end as other_secret_ciphertext`;

export interface EncryptedSecrets {
  readonly endpoint_id: string;
  readonly secret_ciphertext: string;
  readonly other_secret_ciphertext: string | null;
}

export interface SigningSecrets {
  readonly current: string;
  /** Set during a rotation, when two secrets are valid. */
  readonly other: string | undefined;
}

interface SecretReader {
  readonly secrets: SecretBox;
  readonly logger: Logger;
}

/** Decrypts the signing secrets. Throws if the current secret cannot be decrypted. */
export const decryptSecrets = (
  { secrets, logger }: SecretReader,
  { endpoint_id: id, secret_ciphertext: current, other_secret_ciphertext: other }: EncryptedSecrets,
): SigningSecrets => ({
  current: secrets.decrypt(current, id),
  // If only the other secret cannot be decrypted, the delivery is still sent.
  other: other ? decryptIfReadable(secrets, other, id, logger) : undefined,
});

/**
 * Decrypts the signing secrets. If the current secret cannot be decrypted, logs an alert line with
 * `ids` and returns undefined.
 */
export function decryptSecretsIfReadable(
  context: SecretReader,
  sealed: EncryptedSecrets,
  ids: object,
): SigningSecrets | undefined {
  try {
    return decryptSecrets(context, sealed);
  } catch (error) {
    context.logger.error({ err: error, alert: true, ...ids }, "signing secret cannot be decrypted");
    return undefined;
  }
}
