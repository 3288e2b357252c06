import { createHash } from "node:crypto";

/**
 * Returns a hash of an application's state. For vendors without a sequence, a different hash means
 * a changed state. `parts` must contain all values that were read from the response, and the
 * vendor's own status, attempt and review time.
 */
export const hashState = (...parts: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex");
