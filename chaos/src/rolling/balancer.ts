import { sleep } from "@amana/runtime";
import { request } from "undici";

const probeEveryMs = 50;
const probeTimeoutMs = 1_000;

/** Chooses among the gateways as a balancer does: whoever says that it is ready takes its turn. */
export interface Balancer extends AsyncDisposable {
  /** The address for the next request. */
  next(): string;
  /** Resolves when all of them are ready. */
  allReady(): Promise<void>;
}

export function startBalancer(urls: readonly string[]): Balancer {
  const ready = new Set<string>();
  const stop = new AbortController();
  let turn = 0;

  const watch = async (url: string) => {
    while (!stop.signal.aborted) {
      if (await isReady(url)) ready.add(url);
      else ready.delete(url);
      await sleep(probeEveryMs, stop.signal);
    }
  };
  const watching = urls.map(watch);

  return {
    next() {
      const choices = ready.size > 0 ? [...ready] : urls;
      return choices[turn++ % choices.length] as string;
    },
    async allReady() {
      while (ready.size < urls.length && !stop.signal.aborted) await sleep(probeEveryMs, stop.signal);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(watching);
    },
  };
}

async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await request(`${url}/readyz`, { headersTimeout: probeTimeoutMs, reset: true });
    await answer.body.dump();
    return answer.statusCode === 200;
  } catch {
    return false;
  }
}
