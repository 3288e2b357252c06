/** Encrypts stored secrets that a service must read again, such as signing secrets and links. */
export { readEncryptionKeys } from "./encryption-keys.ts";
export { createSecretBox, decryptIfReadable, type SecretBox } from "./secret-box.ts";
