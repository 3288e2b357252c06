import { sleep } from "@amana/runtime";
import { request } from "undici";

/**
 * Much shorter than the delay of a graceful shutdown. More frequent probes would use more processor
 * time, because each probe opens a new connection.
 */
const probeEveryMs = 250;
const probeTimeoutMs = 1_000;

/** A load balancer that chooses the ready gateways in rotation. */
export interface Balancer extends AsyncDisposable {
  /** Returns the URL for the next request. */
  next(): string;
  /** Resolves when all gateways are ready. */
  waitUntilAllReady(): Promise<void>;
}

export function startBalancer(urls: readonly string[]): Balancer {
  const ready = new Set<string>();
  const stop = new AbortController();
  let nextIndex = 0;

  const probe = async (url: string) => {
    while (!stop.signal.aborted) {
      if (await isReady(url)) ready.add(url);
      else ready.delete(url);
      await sleep(probeEveryMs, stop.signal);
    }
  };
  const probes = urls.map(probe);

  return {
    next() {
      const choices = ready.size > 0 ? [...ready] : urls;
      return choices[nextIndex++ % choices.length] as string;
    },
    async waitUntilAllReady() {
      while (ready.size < urls.length && !stop.signal.aborted) await sleep(probeEveryMs, stop.signal);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(probes);
    },
  };
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await request(`${url}/readyz`, { headersTimeout: probeTimeoutMs, reset: true });
    await response.body.dump();
    return response.statusCode === 200;
  } catch {
    return false;
  }
}
