import { type Logger, sleep } from "@amana/runtime";

/** Runs `work` again and again, with a pause after a round that found nothing, until disposed. */
export function poll(name: string, logger: Logger, work: () => Promise<number>, pauseMs = 1_000): AsyncDisposable {
  const stop = new AbortController();
  const run = async () => {
    while (!stop.signal.aborted) {
      let found = 0;
      try {
        found = await work();
      } catch (error) {
        logger.warn({ err: error, job: name }, "a round failed; the next one tries again");
      }
      if (found === 0) await sleep(pauseMs, stop.signal);
    }
  };
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}
