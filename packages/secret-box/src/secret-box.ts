import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { Logger } from "@amana/runtime";

export interface EncryptionKey {
  /**
   * Id of the key, which is the prefix of each ciphertext. It consists of letters, digits, "_" and
   * "-".
   */
  readonly id: string;
  /** 32 bytes. */
  readonly key: Buffer;
}

/** Encrypts and decrypts secrets, each bound to the row that owns it. */
export interface SecretBox {
  /**
   * Ids of the former keys, which only decrypt. They are needed for ciphertexts that are not
   * encrypted again yet.
   */
  readonly formerKeyIds: readonly string[];
  /** Returns the ciphertext to store in the row whose id is `owner`. */
  encrypt(secret: string, owner: string): string;
  /** Throws if the key is no longer configured, the text was altered, or `owner` is another row. */
  decrypt(ciphertext: string, owner: string): string;
}

const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts with AES-256-GCM (NIST SP 800-38D) and a random nonce. The ciphertext has the form
 * `keyId:base64(nonce, ciphertext, tag)`. The key's id and the owner's id are associated data, so a
 * ciphertext that was copied to another row cannot be decrypted. The first key encrypts and all
 * keys decrypt, so that keys can be rotated. Throws if there is no key.
 */
export function createSecretBox(keys: readonly EncryptionKey[]): SecretBox {
  const [firstKey] = keys;
  if (!firstKey) throw new Error("no encryption key is configured");
  const byId = new Map(keys.map(({ id, key }) => [id, key]));
  const associatedData = (keyId: string, owner: string) => Buffer.from(`${keyId}:${owner}`);

  return {
    formerKeyIds: keys.slice(1).map(({ id }) => id),

    encrypt(secret, owner) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", firstKey.key, nonce).setAAD(associatedData(firstKey.id, owner));
      const bytes = Buffer.concat([nonce, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `${firstKey.id}:${bytes.toString("base64")}`;
    },

    decrypt(ciphertext, owner) {
      const [keyId = "", base64 = ""] = ciphertext.split(":");
      const key = byId.get(keyId);
      if (!key) throw new Error(`encryption key "${keyId}" is not among SECRET_ENCRYPTION_KEYS`);
      const bytes = Buffer.from(base64, "base64");
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
        .setAAD(associatedData(keyId, owner))
        .setAuthTag(bytes.subarray(-tagBytes));
      return decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, "utf8") + decipher.final("utf8");
    },
  };
}

/**
 * Returns the decrypted secret. If its key was removed too early or the ciphertext was altered,
 * logs an alert and returns undefined. Use it for lists, so that an unreadable secret does not hide
 * the other entries.
 */
export function decryptIfReadable(box: SecretBox, ciphertext: string, owner: string, logger: Logger): string | undefined {
  try {
    return box.decrypt(ciphertext, owner);
  } catch (error) {
    logger.error({ err: error, owner_id: owner, alert: true }, "stored secret could not be decrypted");
    return undefined;
  }
}
