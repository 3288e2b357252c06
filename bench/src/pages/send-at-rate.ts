import type { Dispatcher } from "undici";

/** A request that is sent repeatedly at a fixed rate. */
export interface Route {
  readonly name: string;
  readonly perSecond: number;
  readonly send: () => Promise<Dispatcher.ResponseData>;
}

/**
 * Sends the requests of each route at the route's rate, without waiting for responses. Returns the
 * durations in milliseconds by route. A duration begins when the request is due, so it includes a
 * delay of the sender. Throws if a response has no 2xx status.
 */
export async function sendAtRate(routes: readonly Route[], seconds: number): Promise<Map<string, number[]>> {
  const all = routes.map(async ({ name, perSecond, send }) => {
    const startedMs = performance.now();
    const pending: Promise<number>[] = [];
    for (let i = 0; i < perSecond * seconds; i++) {
      const dueMs = startedMs + (i * 1_000) / perSecond;
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      pending.push(measure(name, send, dueMs));
    }
    return [name, await Promise.all(pending)] as const;
  });
  return new Map(await Promise.all(all));
}

async function measure(name: string, send: Route["send"], dueMs: number): Promise<number> {
  const response = await send();
  const text = await response.body.text();
  if (response.statusCode < 200 || response.statusCode > 299)
    throw new Error(`${name} returned status ${response.statusCode}: ${text}`);
  return performance.now() - dueMs;
}

/** Returns a percentile of the values. `fraction` is 0.99 for the 99th percentile. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * fraction) - 1] ?? Number.NaN;
}
