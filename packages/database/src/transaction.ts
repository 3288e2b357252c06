import { allTenants, backoffMs, currentTenant, FairSemaphore, sleep } from "@amana/runtime";
import { DeadlockException, type SqlEntityManager, UniqueConstraintViolationException } from "@mikro-orm/postgresql";
import type { BindingConnection, Transaction } from "./binding-driver.ts";
import { deferChanges } from "./defer-changes.ts";
import type { Orm } from "./orm.ts";

const attemptsMax = 3;

/** Time for which a transaction waits for a connection, as `acquireTimeoutMs` of the pool. */
const slotWaitMs = 3_000;

/** Slots of each ORM's pool. */
const slots = new WeakMap<Orm, FairSemaphore>();

function slotsOf(orm: Orm): FairSemaphore {
  let semaphore = slots.get(orm);
  if (!semaphore) {
    const { max = 1 } = orm.config.get("pool") ?? {};
    semaphore = new FairSemaphore({ slots: max, perTenant: Math.ceil(max / 2) });
    slots.set(orm, semaphore);
  }
  return semaphore;
}

/** Thrown if the transactions of a tenant have used its share of the connections for too long. */
class NoConnectionFree extends Error {}

/**
 * Runs `work` in a transaction with its own EntityManager, and commits when `work` resolves. After
 * a deadlock or serialization failure, PostgreSQL rolls the transaction back, and `transaction`
 * repeats `work` with a new EntityManager. `work` must therefore have no effects outside of the
 * transaction. The transactions of a business use at most half of the connections, because many
 * transactions can wait for the lock of one row.
 */
export async function transaction<T>(orm: Orm, work: (em: SqlEntityManager) => Promise<T>): Promise<T> {
  const tenant = currentTenant();
  if (tenant === undefined || tenant === allTenants) return await runTransaction(orm, work);
  return await slotsOf(orm).run(
    tenant,
    slotWaitMs,
    () => runTransaction(orm, work),
    () => new NoConnectionFree("the transactions of the business use its share of the connections"),
  );
}

async function runTransaction<T>(orm: Orm, work: (em: SqlEntityManager) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const em = orm.em.fork() as SqlEntityManager;
    const callbacks: (() => void)[] = [];
    afterCommits.set(em, callbacks);
    try {
      const result = await (em.getConnection() as BindingConnection).transactional(async (context) => {
        em.setTransactionContext(context);
        const result = await work(em);
        await deferChanges(em, (context as unknown as Transaction).client);
        return result;
      });
      for (const callback of callbacks) callback();
      return result;
    } catch (error) {
      const isDuplicate = error instanceof UniqueConstraintViolationException;
      const refusal = isDuplicate && refusals.get(em)?.get((error as { constraint?: string }).constraint ?? "");
      if (refusal) throw refusal();
      const isConflict = error instanceof DeadlockException || sqlState(error) === "40001";
      if (!isConflict || attempt === attemptsMax) throw error;
      // Without a pause, the same two transactions would often conflict again.
      await sleep(backoffMs(attempt, 20, 100));
    }
  }
}

const afterCommits = new WeakMap<SqlEntityManager, (() => void)[]>();

/** Calls `callback`, which must not throw, when the transaction of `em` has committed. */
export function afterCommit(em: SqlEntityManager, callback: () => void): void {
  afterCommits.get(em)?.push(callback);
}

const refusals = new WeakMap<SqlEntityManager, Map<string, () => Error>>();

/**
 * Makes the transaction of `em` throw `refusal()` if its changes violate the unique constraint with
 * the name `constraint`. If two concurrent transactions insert the same value, the second
 * transaction therefore gets the refusal.
 */
export function refuseDuplicates(em: SqlEntityManager, constraint: string, refusal: () => Error): void {
  refusals.set(em, new Map(refusals.get(em)).set(constraint, refusal));
}

/** SQLSTATEs of lost connections, exhausted resources and conflicts: a later retry can succeed. */
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

/**
 * Returns whether an error is a temporary fault of the database, after which the same work can
 * succeed.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const state = sqlState(cause);
    if (state !== undefined && (unavailableStates.test(state) || unavailableCodes.has(state))) return true;
    if (cause instanceof NoConnectionFree || unavailableTexts.test(cause.message)) return true;
  }
  return false;
}

/** Returns the SQLSTATE of a PostgreSQL error, or the system error code of a connection error. */
function sqlState(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : undefined;
}
