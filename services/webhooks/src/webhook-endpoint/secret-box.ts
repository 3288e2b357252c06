import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

export interface EncryptionKey {
  readonly id: string;
  /** 32 bytes. */
  readonly key: Buffer;
}

export type SecretBox = ReturnType<typeof createSecretBox>;

const nonceBytes = 12;
const tagBytes = 16;

/** `whsec_` and 32 random bytes in base64 (Standard Webhooks, symmetric secrets). */
export const newSecret = () => `whsec_${randomBytes(32).toString("base64")}`;

/**
 * Keeps signing secrets unreadable at rest: AES-256-GCM, written "keyId:base64(nonce, ciphertext, tag)". The key's
 * and the endpoint's id are authenticated with it, so a ciphertext works in its own row only. The first key
 * encrypts, all of them decrypt; that is how keys are changed.
 */
export function createSecretBox(keys: readonly EncryptionKey[]) {
  const [first] = keys;
  if (!first) throw new Error("there is no encryption key");
  const byId = new Map(keys.map(({ id, key }) => [id, key]));
  const bound = (keyId: string, endpointId: string) => Buffer.from(`${keyId}:${endpointId}`);

  return {
    encrypt(secret: string, endpointId: string): string {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", first.key, nonce).setAAD(bound(first.id, endpointId));
      const bytes = Buffer.concat([nonce, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `${first.id}:${bytes.toString("base64")}`;
    },

    /** Throws when the key is not known any more, or the text was altered or belongs to another endpoint. */
    decrypt(ciphertext: string, endpointId: string): string {
      const [keyId = "", base64 = ""] = ciphertext.split(":");
      const key = byId.get(keyId);
      if (!key) throw new Error(`encryption key "${keyId}" is not among SECRET_ENCRYPTION_KEYS`);
      const bytes = Buffer.from(base64, "base64");
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
        .setAAD(bound(keyId, endpointId))
        .setAuthTag(bytes.subarray(-tagBytes));
      return decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, "utf8") + decipher.final("utf8");
    },
  };
}
