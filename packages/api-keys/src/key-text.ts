import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * Prefix of a key. It shows whether the key belongs to a business (live or test), an operator or an
 * invitation.
 */
export type ApiKeyKind = "sk_live_" | "sk_test_" | "ak_" | "inv_";

const randomBytesCount = 32;
/** The minimum number of base-62 characters for 256 bits. */
const randomLength = 43;
/** The minimum number of base-62 characters for a CRC-32. */
const checksumLength = 6;
const prefixLength = 16;

const form = new RegExp(`^(sk_live_|sk_test_|ak_|inv_)[0-9A-Za-z]{${randomLength + checksumLength}}$`);

/**
 * Returns a new key: its kind, 256 random bits as 43 base-62 characters, and a CRC-32 of both as 6
 * characters. The key is a secret: store only `hashApiKey` and `prefixOf` of it.
 */
export function generateApiKey(kind: ApiKeyKind): string {
  const random = BigInt(`0x${randomBytes(randomBytesCount).toString("hex")}`);
  const text = kind + toBase62(random, randomLength);
  return text + checksumOf(text);
}

/**
 * Returns the kind of a well-formed key, or undefined when its format or checksum is wrong. The
 * checksum detects a typing error without an RPC. Only identity can determine whether the key
 * exists.
 */
export function readApiKeyKind(text: string): ApiKeyKind | undefined {
  const kind = form.exec(text)?.[1] as ApiKeyKind | undefined;
  if (!kind) return undefined;
  return text.slice(-checksumLength) === checksumOf(text.slice(0, -checksumLength)) ? kind : undefined;
}

/**
 * Returns the first 16 characters of a key. They identify the key in logs and lists, but do not
 * reveal it.
 */
export function prefixOf(key: string): string {
  return key.slice(0, prefixLength);
}

/**
 * Returns the SHA-256 hash of a key. Services store a key only as this hash. A hash without salt is
 * sufficient, because a key has 256 random bits.
 */
export function hashApiKey(key: string): Buffer {
  return hash("sha256", key, "buffer");
}

/** Returns the checksum of a text: the CRC-32 that zlib and Ethernet use (ISO 3309), in base 62. */
function checksumOf(text: string): string {
  return toBase62(BigInt(crc32(text)), checksumLength);
}

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Converts a non-negative number to base 62, padded with 0 on the left to `length`. */
function toBase62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; rest > 0n; rest /= 62n) text = alphabet.charAt(Number(rest % 62n)) + text;
  return text.padStart(length, "0");
}
