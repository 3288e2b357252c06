import { createHash } from "node:crypto";

/**
 * Returns the hash that replaces a sequence for vendors without one. `parts`: all that was read of
 * the response, with the vendor's own status, attempt and time of review.
 */
export const hashState = (...parts: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex");
