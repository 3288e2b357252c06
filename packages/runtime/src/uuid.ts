import { randomFillSync } from "node:crypto";

// Drawn in blocks: a call to the system for each costs more than what is done with it.
const pool = Buffer.alloc(4096);
let used = pool.length;

/** Random bytes that nobody can guess, in hexadecimal; 4096 at most. */
export function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString("hex", used - bytes, used);
}

/**
 * A UUID of version 7 (RFC 9562, section 5.7): 48 bits of Unix milliseconds, then 74 random bits.
 * Ids made later sort later, to the millisecond, which keeps index inserts at one end.
 */
export function uuidv7(nowMs: number = Date.now()): string {
  const random = randomHex(10);
  const time = nowMs.toString(16).padStart(12, "0");
  const variant = (8 | (Number.parseInt(random[3] as string, 16) & 3)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`;
}

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text can be an id at all, of any UUID version; what cannot be one names nothing. */
export function isUuid(text: string | undefined): text is string {
  return text !== undefined && uuidPattern.test(text);
}

/** When a UUID of version 7 was made, in Unix milliseconds by the clock of who made it. */
export const timeOfUuid = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
