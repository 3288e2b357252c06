import { type Logger, Pause, poll, sleep } from "@amana/runtime";
import type { Orm } from "./orm.ts";
import { plannedQuery } from "./prepared-query.ts";

/** Work that is due at a time stored in rows. */
export interface DueWork {
  /** Name of the task in logs and metrics. */
  readonly name: string;
  /**
   * SQL expression: the time from which the work is due, or null if no work is planned. It is SQL
   * from code, never from a request, and must use an index.
   */
  readonly nextDue: string;
  /** Maximum interval between two reads of `nextDue` in ms. Default and upper limit: 4 000. */
  readonly everyMs?: number;
  /** Time in ms after which the work runs even if it is not due. Default: one minute. */
  readonly idleMs?: number;
}

/**
 * Default maximum interval between two reads. Work that another process plans starts at most this
 * interval after its due time.
 */
const readEveryMs = 4_000;
/** Minimum interval between two reads, even if work is due or is planned often. */
const readEveryMsMin = 1_000;
const idleMsDefault = 60_000;

interface Source {
  readonly nextDue: string;
  readonly everyMs: number;
  readonly pause: Pause;
}

/** Reads the due times of all work in one database. */
interface Watch {
  readonly sources: Set<Source>;
  /** Reads the due times as soon as the minimum interval since the last read has passed. */
  readNow(): void;
  close(): Promise<void>;
}
const watches = new WeakMap<Orm, Watch>();

/**
 * Wakes `pause` when the work is due, until disposed. One statement reads the due times of all work
 * that is watched on `orm`. It runs when the next work is due, after `checkDue`, and at least every
 * four seconds, because another process may have planned work.
 */
export function watchDue(orm: Orm, logger: Logger, { nextDue, everyMs = readEveryMs }: DueWork, pause: Pause): AsyncDisposable {
  const watch = watches.get(orm) ?? createWatch(orm, logger);
  watches.set(orm, watch);
  const source = { nextDue, everyMs, pause };
  watch.sources.add(source);
  watch.readNow();
  return {
    async [Symbol.asyncDispose]() {
      watch.sources.delete(source);
      if (watch.sources.size > 0) return;
      watches.delete(orm);
      await watch.close();
    },
  };
}

/** A task that runs when its work is due. */
interface DueTask extends AsyncDisposable {
  /** Runs the task now. */
  wake(): void;
}

/**
 * Runs `work` at the start, and whenever it is due by `nextDue`. Repeats and retries it as `poll`
 * does.
 */
export function pollWhenDue(orm: Orm, logger: Logger, due: DueWork, work: () => Promise<number>): DueTask {
  const pause = new Pause();
  const watching = watchDue(orm, logger, due, pause);
  const run = () => {
    pause.begin();
    return work();
  };
  const polling = poll(due.name, logger, run, () => pause.wait(due.idleMs ?? idleMsDefault));
  return {
    wake: () => pause.wake(),
    async [Symbol.asyncDispose]() {
      await watching[Symbol.asyncDispose]();
      const stopped = polling[Symbol.asyncDispose]();
      pause.wake();
      await stopped;
    },
  };
}

/**
 * Reads the due times of a database within a second. Call it after this process has planned work
 * that is due soon.
 */
export const checkDue = (orm: Orm): void => watches.get(orm)?.readNow();

function createWatch(orm: Orm, logger: Logger): Watch {
  const sources = new Set<Source>();
  const pause = new Pause();
  let pauseMs = 0;
  let waitMsMin = 0;
  const read = async () => {
    pause.begin();
    const watched = [...sources];
    pauseMs = Math.min(readEveryMs, ...watched.map(({ everyMs }) => everyMs));
    waitMsMin = Math.min(readEveryMsMin, pauseMs);
    const columns = watched.map(({ nextDue }, at) => `extract(epoch from (${nextDue}) - now())::float8 * 1000 as "${at}"`);
    const [row] = await plannedQuery<Record<string, number | null>>(orm.em, `select ${columns.join(", ")}`, []);
    for (const [at, source] of watched.entries()) {
      const inMs = row?.[at];
      if (inMs == null) continue;
      if (inMs <= 0) source.pause.wake();
      pauseMs = Math.min(pauseMs, inMs > 0 ? inMs : waitMsMin);
    }
    return 0;
  };
  const stop = new AbortController();
  const polling = poll("watch-due", logger, read, async () => {
    const startedMs = performance.now();
    const isWoken = await pause.wait(pauseMs);
    if (isWoken) await sleep(Math.max(0, waitMsMin - (performance.now() - startedMs)), stop.signal);
  });
  return {
    sources,
    readNow: () => pause.wake(),
    async close() {
      const stopped = polling[Symbol.asyncDispose]();
      stop.abort();
      pause.wake();
      await stopped;
    },
  };
}
