import { createHash } from "node:crypto";

/**
 * Returns a hash. For vendors without a sequence, a different hash means a changed state. `parts`
 * are all values that were read from the response, and the vendor's own status, attempt and time of
 * review.
 */
export const hashState = (...parts: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex");
