import { transaction } from "@amana/database";
import {
  type DeadLetterChange,
  deadLetterAction,
  markDropped,
  readDeadLetter,
  readDeadLetters,
  requestRetry,
  type ShownDeadLetter,
} from "@amana/messaging";
import { DomainError } from "@amana/rpc";
import { sleep } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { type ActionResult, printOutcomes } from "../api/act-on-each.ts";
import { CommandError, exitCodes } from "../command-error.ts";
import type { ChangeOptions, CommonOptions } from "../options.ts";
import { ageOf, type Columns, jsonText, print, printable, printRows } from "../print.ts";
import { auditActor } from "./audit-actor.ts";
import { type OpenDatabase, withServices } from "./services.ts";

const deadLettersMax = 1_000;

interface ListOptions extends CommonOptions {
  readonly topic?: string;
  readonly status?: string;
  readonly limit: number;
}

export async function listDeadLetters({ json, topic, status, limit, ...selection }: ListOptions): Promise<void> {
  const matches = await withConsumers(selection, (databases) =>
    Promise.all(databases.map(({ orm }) => readDeadLetters(orm.em.fork(), { topic, status, limit }))),
  );
  const columns: Columns<ShownDeadLetter> = {
    ID: ({ id }) => id,
    SERVICE: ({ consumer }) => consumer,
    TOPIC: ({ topic }) => topic,
    STATUS: ({ status }) => status,
    AGE: ({ created_at }) => ageOf(created_at),
    ATTEMPTS: ({ attempts }) => attempts,
    KEY: ({ key }) => key,
    REASON: ({ reason }) => reason.slice(0, 120),
  };
  printRows(matches.flat(), columns, { json, emptyText: "There are no dead-lettered messages." });
}

export async function showDeadLetter(id: string, { json, ...selection }: CommonOptions): Promise<void> {
  const deadLetter = await withConsumers(selection, async (databases) => {
    const { service, orm } = await findDatabaseOf(databases, id);
    return await readDeadLetter(orm.em.fork(), id, service.consumes);
  });
  if (!deadLetter) throw unknownDeadLetter(id);
  if (json) return print(jsonText(deadLetter));
  for (const [name, value] of Object.entries(deadLetter)) print(`${name.padEnd(16)}${formatValue(value)}`);
}

const formatValue = (value: unknown) => (typeof value === "string" ? printable(value) : jsonText(value));

interface RetryOptions extends ChangeOptions {
  readonly all?: boolean;
  readonly topic?: string;
  readonly status?: string;
  readonly wait: number;
}

export async function retryDeadLetters(
  ids: string[],
  { json, as, all, topic, status, wait, ...selection }: RetryOptions,
): Promise<void> {
  if (ids.length > 0 === (all === true)) throw new CommandError("Use either ids or --all.", exitCodes.usage);
  const rows = await withConsumers(selection, async (databases) => {
    const results: ActionResult[] = [];
    const retried: { id: string; attempts: number; database: OpenDatabase }[] = [];
    for (const { id, database } of all
      ? await matchingDeadLetters(databases, topic, status)
      : await locateDeadLetters(databases, ids)) {
      try {
        const change = await changeDeadLetter(database, as, "retried", (em) => requestRetry(em, id));
        if (change) retried.push({ id, attempts: change.before.attempts, database });
        else results.push({ id, service: database.service.name, outcome: "DELIVERED" });
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        results.push({ id, service: database.service.name, outcome: `not retried: ${error.message}` });
      }
    }
    const untilMs = performance.now() + wait * 1000;
    for (const deadLetter of retried) results.push(await waitForOutcome(deadLetter, untilMs));
    return results;
  });
  printOutcomes(rows, { json, emptyText: "There are no dead-lettered messages to retry." });
  if (rows.some(({ outcome }) => outcome !== "DELIVERED")) process.exitCode = exitCodes.failed;
}

async function matchingDeadLetters(databases: readonly OpenDatabase[], topic: string | undefined, status = "PARKED") {
  const matches = await Promise.all(
    databases.map(async (database) => {
      const deadLetters = await readDeadLetters(database.orm.em.fork(), { topic, status, limit: deadLettersMax });
      return deadLetters.map(({ id }) => ({ id, database }));
    }),
  );
  return matches.flat();
}

async function locateDeadLetters(
  databases: readonly OpenDatabase[],
  ids: readonly string[],
): Promise<{ id: string; database: OpenDatabase }[]> {
  const matches: { id: string; database: OpenDatabase }[] = [];
  for (const id of ids) matches.push({ id, database: await findDatabaseOf(databases, id) });
  return matches;
}

async function waitForOutcome(
  { id, attempts, database }: { id: string; attempts: number; database: OpenDatabase },
  untilMs: number,
): Promise<ActionResult> {
  const row = (outcome: string): ActionResult => ({ id, service: database.service.name, outcome });
  for (;;) {
    const current = await readDeadLetter(database.orm.em.fork(), id);
    if (!current || current.status === "DELIVERED" || current.status === "DROPPED") return row(current?.status ?? "DELIVERED");
    if (current.attempts > attempts) return row(`failed again: ${current.reason}; fix the cause, then retry or drop the message`);
    if (performance.now() >= untilMs) return row("not retried yet; the consumer retries the message when the service runs");
    await sleep(250);
  }
}

export async function dropDeadLetters(
  ids: string[],
  { json, as, reason, ...selection }: ChangeOptions & { reason: string },
): Promise<void> {
  const rows = await withConsumers(selection, async (databases) => {
    const results: ActionResult[] = [];
    for (const { id, database } of await locateDeadLetters(databases, ids)) {
      await changeDeadLetter(database, as, "dropped", (em) => markDropped(em, id), reason);
      results.push({ id, service: database.service.name, outcome: "DROPPED" });
    }
    return results;
  });
  printOutcomes(rows, { json });
}

/** Runs `change` on a dead-lettered message and inserts an audit row, both in one transaction. */
async function changeDeadLetter(
  { service, orm }: OpenDatabase,
  as: string,
  action: "retried" | "dropped",
  change: (em: SqlEntityManager) => Promise<DeadLetterChange | undefined>,
  reason?: string,
): Promise<DeadLetterChange | undefined> {
  return await transaction(orm, async (em) => {
    const changed = await change(em);
    if (changed) service.record(em, new Date(), deadLetterAction(auditActor(as), action, changed, reason));
    return changed;
  });
}

/** Calls `work` with the databases of the selected services that consume events. */
const withConsumers = <T>(selection: CommonOptions, work: (databases: readonly OpenDatabase[]) => Promise<T>): Promise<T> =>
  withServices(selection, (databases) => work(databases.filter(({ service }) => Object.keys(service.consumes).length > 0)));

async function findDatabaseOf(databases: readonly OpenDatabase[], id: string): Promise<OpenDatabase> {
  for (const database of databases) if (await readDeadLetter(database.orm.em.fork(), id)) return database;
  throw unknownDeadLetter(id);
}

const unknownDeadLetter = (id: string) =>
  new CommandError(`No reachable database has the dead-lettered message ${id}. See: amana dead-letters list --databases`);
