import { sleep } from "@amana/runtime";

const pollMs = 20;

/**
 * Asks again and again until `probe` answers without throwing, and returns its answer; for state
 * that another process reaches in its own time. Throws the last error after `timeoutMs`.
 */
export async function eventually<T>(probe: () => Promise<T> | T, timeoutMs = 90_000): Promise<T> {
  const endsAtMs = performance.now() + timeoutMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(250, pauseMs * 1.5)) {
    try {
      return await probe();
    } catch (error) {
      if (performance.now() > endsAtMs) throw error;
      await sleep(pauseMs);
    }
  }
}

/** Asks again and again until `isSo` answers yes. False when it did not within `timeoutMs`. */
export async function until(isSo: () => Promise<boolean> | boolean, timeoutMs: number): Promise<boolean> {
  const endsAtMs = performance.now() + timeoutMs;
  while (!(await isSo())) {
    if (performance.now() > endsAtMs) return false;
    await sleep(pollMs);
  }
  return true;
}
