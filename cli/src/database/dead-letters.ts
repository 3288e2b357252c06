import { transaction } from "@amana/database";
import {
  dropLetter,
  type LetterChange,
  letterAction,
  listLetters,
  readLetterState,
  requestRetry,
  type ShownLetter,
  showLetter,
} from "@amana/messaging";
import { DomainError } from "@amana/rpc";
import { sleep } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { CommandError, exitCodes } from "../command-error.ts";
import type { ChangeOptions, CommonOptions } from "../options.ts";
import { ageOf, jsonText, printable, printRows } from "../print.ts";
import { auditActor, requireUuid } from "./audit-actor.ts";
import { type OpenDatabase, withServices } from "./services.ts";

const lettersMax = 1_000;

interface ListOptions extends CommonOptions {
  readonly topic?: string;
  readonly status?: string;
  readonly limit: number;
}

export async function list({ json, topic, status, limit, ...selection }: ListOptions): Promise<void> {
  const rows = await withServices(selection, async (opened) => {
    const found = await Promise.all(
      opened.filter(consumes).map(({ orm }) => listLetters(orm.em.fork(), { topic, status, limit: Math.floor(limit) })),
    );
    return found.flat();
  });
  const columns = {
    ID: (row: ShownLetter) => row.id,
    SERVICE: (row: ShownLetter) => row.consumer,
    TOPIC: (row: ShownLetter) => row.topic,
    STATUS: (row: ShownLetter) => row.status,
    AGE: (row: ShownLetter) => ageOf(row.created_at),
    ATTEMPTS: (row: ShownLetter) => row.attempts,
    KEY: (row: ShownLetter) => row.key,
    REASON: (row: ShownLetter) => row.reason.slice(0, 120),
  };
  printRows(rows, columns, { json, none: "No dead letters found." });
}

export async function show(id: string, { json, ...selection }: CommonOptions): Promise<void> {
  const letter = await readFromFirst(selection, requireUuid(id), ({ service, orm }) =>
    showLetter(orm.em.fork(), id, (topic) => service.consumes[topic]),
  );
  if (json) process.stdout.write(`${jsonText(letter)}\n`);
  else for (const [name, value] of Object.entries(letter)) process.stdout.write(`${name.padEnd(16)}${shownValue(value)}\n`);
}

const shownValue = (value: unknown) => (typeof value === "string" ? printable(value) : jsonText(value));

interface RetryOptions extends ChangeOptions {
  readonly all?: boolean;
  readonly topic?: string;
  readonly status?: string;
  readonly wait: number;
}

interface LetterOutcome {
  readonly id: string;
  readonly service: string;
  readonly outcome: string;
}

export async function retry(ids: string[], { json, as, all, topic, status, wait, ...selection }: RetryOptions): Promise<void> {
  if (ids.length > 0 === (all === true)) throw new CommandError("Use either ids or --all.", exitCodes.usage);
  const rows = await withServices(selection, async (opened) => {
    const results: LetterOutcome[] = [];
    const requested: { id: string; attempts: number; at: OpenDatabase }[] = [];
    for (const { id, at } of all ? await matchingLetters(opened, topic, status) : await locateLetters(opened, ids)) {
      try {
        const change = await changeLetter(at, as, "retried", (em) => requestRetry(em, id));
        if (change) requested.push({ id, attempts: change.before.attempts, at });
        else results.push({ id, service: at.service.name, outcome: "DELIVERED" });
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        results.push({ id, service: at.service.name, outcome: `not retried: ${error.message}` });
      }
    }
    const untilMs = performance.now() + wait * 1000;
    for (const letter of requested) results.push(await waitForOutcome(letter, untilMs));
    return results;
  });
  const columns = {
    ID: (row: LetterOutcome) => row.id,
    SERVICE: (row: LetterOutcome) => row.service,
    OUTCOME: (row: LetterOutcome) => row.outcome,
  };
  printRows(rows, columns, { json, none: "No dead letters to retry." });
  if (rows.some(({ outcome }) => outcome !== "DELIVERED")) process.exitCode = exitCodes.failed;
}

async function matchingLetters(opened: readonly OpenDatabase[], topic: string | undefined, status = "PARKED") {
  const found = await Promise.all(
    opened.filter(consumes).map(async (at) => {
      const letters = await listLetters(at.orm.em.fork(), { topic, status, limit: lettersMax });
      return letters.map(({ id }) => ({ id, at }));
    }),
  );
  return found.flat();
}

async function locateLetters(
  opened: readonly OpenDatabase[],
  ids: readonly string[],
): Promise<{ id: string; at: OpenDatabase }[]> {
  const found: { id: string; at: OpenDatabase }[] = [];
  for (const id of ids) {
    requireUuid(id);
    const at = await findLetter(opened, id);
    if (!at) throw unknownLetter(id);
    found.push({ id, at });
  }
  return found;
}

async function waitForOutcome(
  { id, attempts, at }: { id: string; attempts: number; at: OpenDatabase },
  untilMs: number,
): Promise<LetterOutcome> {
  const row = (outcome: string): LetterOutcome => ({ id, service: at.service.name, outcome });
  for (;;) {
    const current = await readLetterState(at.orm.em.fork(), id);
    if (!current || current.status === "DELIVERED" || current.status === "DROPPED") return row(current?.status ?? "DELIVERED");
    if (current.attempts > attempts) return row(`failed again: ${current.reason} Fix the cause, then retry or drop it.`);
    if (performance.now() >= untilMs) return row("not attempted yet; the consumer retries it when the service runs");
    await sleep(250);
  }
}

export async function drop(
  ids: string[],
  { json, as, reason, ...selection }: ChangeOptions & { reason?: string },
): Promise<void> {
  if (!reason?.trim()) throw new CommandError("--reason is required: the audit trail contains it.", exitCodes.usage);
  const rows = await withServices(selection, async (opened) => {
    const results: LetterOutcome[] = [];
    for (const { id, at } of await locateLetters(opened, ids)) {
      await changeLetter(at, as, "dropped", (em) => dropLetter(em, id), reason);
      results.push({ id, service: at.service.name, outcome: "DROPPED" });
    }
    return results;
  });
  const columns = {
    ID: (row: LetterOutcome) => row.id,
    SERVICE: (row: LetterOutcome) => row.service,
    OUTCOME: (row: LetterOutcome) => row.outcome,
  };
  printRows(rows, columns, { json, none: "" });
}

/** Changes a dead letter and adds an audit row in one transaction. */
async function changeLetter(
  { service, orm }: OpenDatabase,
  as: string,
  action: "retried" | "dropped",
  change: (em: SqlEntityManager) => Promise<LetterChange | undefined>,
  reason?: string,
): Promise<LetterChange | undefined> {
  return await transaction(orm, async (em) => {
    const changed = await change(em);
    if (changed) service.record(em, new Date(), letterAction(auditActor(as), action, changed, reason));
    return changed;
  });
}

const consumes = ({ service }: OpenDatabase) => Object.keys(service.consumes).length > 0;

async function findLetter(opened: readonly OpenDatabase[], id: string): Promise<OpenDatabase | undefined> {
  for (const at of opened.filter(consumes)) if (await readLetterState(at.orm.em.fork(), id)) return at;
  return undefined;
}

async function readFromFirst<T>(
  selection: CommonOptions,
  id: string,
  read: (at: OpenDatabase) => Promise<T | undefined>,
): Promise<T> {
  return await withServices(selection, async (opened) => {
    for (const at of opened.filter(consumes)) {
      const found = await read(at);
      if (found) return found;
    }
    throw unknownLetter(id);
  });
}

const unknownLetter = (id: string) =>
  new CommandError(`No reachable database has the dead letter ${id}. See: amana dead-letters list --databases`);
