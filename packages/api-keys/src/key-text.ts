import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/** How a key begins: of a business, live or in tests; of an operator; of an invitation. */
export type ApiKeyKind = "sk_live_" | "sk_test_" | "ak_" | "inv_";

const randomBytesCount = 32;
/** The fewest base-62 characters that hold 256 bits. */
const randomLength = 43;
/** The fewest base-62 characters that hold a CRC-32. */
const checksumLength = 6;
const prefixLength = 16;

const form = new RegExp(`^(sk_live_|sk_test_|ak_|inv_)[0-9A-Za-z]{${randomLength + checksumLength}}$`);

/**
 * A new key: its kind, 256 random bits as 43 base-62 characters, and 6 characters of CRC-32 over
 * all that. It is a secret; keep only `hashApiKey` and `prefixOf` of it.
 */
export function generateApiKey(kind: ApiKeyKind): string {
  const random = BigInt(`0x${randomBytes(randomBytesCount).toString("hex")}`);
  const text = kind + toBase62(random, randomLength);
  return text + checksumOf(text);
}

/**
 * The kind of a well-formed key; undefined when form or checksum is wrong. So a typo is refused
 * without asking anyone; whether the key exists is identity's to say.
 */
export function readApiKeyKind(text: string): ApiKeyKind | undefined {
  const kind = form.exec(text)?.[1] as ApiKeyKind | undefined;
  if (!kind) return undefined;
  return text.slice(-checksumLength) === checksumOf(text.slice(0, -checksumLength)) ? kind : undefined;
}

/** The first 16 characters: they name a key in logs and lists, and give too little to guess it. */
export function prefixOf(key: string): string {
  return key.slice(0, prefixLength);
}

/** SHA-256, the only form that is stored. A plain hash is enough: a key is 256 random bits. */
export function hashApiKey(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

/** CRC-32 of zlib and Ethernet (ISO 3309). */
function checksumOf(text: string): string {
  return toBase62(BigInt(crc32(text)), checksumLength);
}

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** A number from 0 in base 62, padded with 0 on the left to `length`. */
function toBase62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; rest > 0n; rest /= 62n) text = alphabet.charAt(Number(rest % 62n)) + text;
  return text.padStart(length, "0");
}
