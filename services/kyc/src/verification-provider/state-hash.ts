import { createHash } from "node:crypto";

/**
 * Returns the hash by which a change is detected for vendors without a sequence. `parts`: all
 * values that were read from the response, with the vendor's own status, attempt and time of
 * review.
 */
export const hashState = (...parts: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex");
