import { backoffMs, sleep } from "@amana/runtime";
import { DeadlockException, type SqlEntityManager } from "@mikro-orm/postgresql";
import type { Orm } from "./orm.ts";

const attemptsMax = 3;

/**
 * One transaction on an EntityManager of its own; commits when `work` resolves. A deadlock or a
 * serialisation failure, where the database promises that nothing happened, is tried again with a
 * fresh EntityManager, so `work` must not do anything that outlives its transaction.
 */
export async function transaction<T>(orm: Orm, work: (em: SqlEntityManager) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const callbacks: (() => void)[] = [];
    try {
      const result = await (orm.em.fork() as SqlEntityManager).transactional((em) => {
        afterCommits.set(em, callbacks);
        return work(em);
      });
      for (const callback of callbacks) callback();
      return result;
    } catch (error) {
      const mayRepeat = error instanceof DeadlockException || sqlState(error) === "40001";
      if (!mayRepeat || attempt === attemptsMax) throw error;
      // The other one has to get on first; at once, the two would often meet in the same way again.
      await sleep(backoffMs(attempt, 20, 100));
    }
  }
}

const afterCommits = new WeakMap<SqlEntityManager, (() => void)[]>();

/** Calls `callback`, which must not throw, when the transaction of `em` has committed. */
export function afterCommit(em: SqlEntityManager, callback: () => void): void {
  afterCommits.get(em)?.push(callback);
}

/** Connection trouble, exhausted resources, others in the way: worth another try later. */
const unavailableStates = /^(08...|53...|57P0[1-3]|55P03|57014|25006|25P03|40001|40P01)$/;
const unavailableCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);
const unavailableTexts =
  /timeout exceeded when trying to connect|Query read timeout|Connection terminated|Client has encountered a connection error/i;

/** True for faults that mean the database cannot be used right now. */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const state = sqlState(cause);
    if (state !== undefined && (unavailableStates.test(state) || unavailableCodes.has(state))) return true;
    if (unavailableTexts.test(cause.message)) return true;
  }
  return false;
}

/** SQLSTATE of a PostgreSQL error, or the system's code of a connection error. */
function sqlState(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : undefined;
}
