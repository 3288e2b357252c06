import { randomUUIDv7 } from "node:crypto";

/**
 * Returns a UUID of version 7 (RFC 9562, section 5.7), for the current time or for a time in Unix
 * milliseconds. Ids sort by their time, to the millisecond, so that inserts are at one end of an
 * index. Replaces the time in the UUID from Node, because tests cannot shift the clock that Node
 * uses.
 */
export function uuidv7(timeMs: number = Date.now()): string {
  const time = timeMs.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}${randomUUIDv7().slice(13)}`;
}

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns whether a text has the form of a UUID of any version. */
export function isUuid(text: string | undefined): text is string {
  return text !== undefined && uuidPattern.test(text);
}

/**
 * Returns the time in a UUID of version 7, in Unix milliseconds, by the clock of the process that
 * created the UUID.
 */
export const timeMsOfUuid = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
