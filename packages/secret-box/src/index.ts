/** Secrets that have to be read again, such as signing secrets and links, unreadable at rest. */
export { readEncryptionKeys } from "./encryption-keys.ts";
export { createSecretBox, decryptIfReadable, type EncryptionKey, type SecretBox } from "./secret-box.ts";
