import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { Logger } from "@amana/runtime";

export interface EncryptionKey {
  /** Letters, digits, "_" and "-"; written in front of each ciphertext. */
  readonly id: string;
  /** 32 bytes. */
  readonly key: Buffer;
}

/** Encrypts and decrypts the secrets of single rows. */
export interface SecretBox {
  /** Ids of the keys that only decrypt, because what they encrypted is still about. */
  readonly formerKeyIds: readonly string[];
  /** The text to store in the row of `owner`: the id of the thing whose secret it is. */
  encrypt(secret: string, owner: string): string;
  /** Throws when the key is not known any more, the text was altered or is another owner's. */
  decrypt(ciphertext: string, owner: string): string;
}

const nonceBytes = 12;
const tagBytes = 16;

/**
 * AES-256-GCM (NIST SP 800-38D) with a random nonce: "keyId:base64(nonce, ciphertext, tag)". The
 * key's and the owner's id are authenticated with it, so a ciphertext works in its own row only.
 * The first key encrypts and all decrypt, so that keys can be changed. Throws when there is no key.
 */
export function createSecretBox(keys: readonly EncryptionKey[]): SecretBox {
  const [first] = keys;
  if (!first) throw new Error("there is no encryption key");
  const byId = new Map(keys.map(({ id, key }) => [id, key]));
  const bound = (keyId: string, owner: string) => Buffer.from(`${keyId}:${owner}`);

  return {
    formerKeyIds: keys.slice(1).map(({ id }) => id),

    encrypt(secret, owner) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", first.key, nonce).setAAD(bound(first.id, owner));
      const bytes = Buffer.concat([nonce, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `${first.id}:${bytes.toString("base64")}`;
    },

    decrypt(ciphertext, owner) {
      const [keyId = "", base64 = ""] = ciphertext.split(":");
      const key = byId.get(keyId);
      if (!key) throw new Error(`encryption key "${keyId}" is not among SECRET_ENCRYPTION_KEYS`);
      const bytes = Buffer.from(base64, "base64");
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
        .setAAD(bound(keyId, owner))
        .setAuthTag(bytes.subarray(-tagBytes));
      return decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, "utf8") + decipher.final("utf8");
    },
  };
}

/**
 * The secret; undefined, and a line in the log with `alert`, where its key was taken away too early
 * or the text was altered. For whoever shows many things: one unreadable value hides no other.
 */
export function decryptIfReadable(box: SecretBox, ciphertext: string, owner: string, logger: Logger): string | undefined {
  try {
    return box.decrypt(ciphertext, owner);
  } catch (error) {
    logger.error({ err: error, owner_id: owner, alert: true }, "a secret cannot be read");
    return undefined;
  }
}
