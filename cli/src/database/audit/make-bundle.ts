import { createHash } from "node:crypto";
import { createWriteStream, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { canonicalJson, digestOf, headColumns, isoOf, rowColumns, rowOf } from "@amana/audit-chain";
import { transaction } from "@amana/database";
import type { Action } from "@amana/messaging";
import { sleep, uuidv7 } from "@amana/runtime";
import type { EvidenceFile } from "@amana/service-host";
import { IsolationLevel, type SqlEntityManager } from "@mikro-orm/postgresql";
import { CommandError } from "../../command-error.ts";
import type { OpenDatabase } from "../services.ts";

interface BundleOptions {
  readonly businessId: string;
  /** Days in UTC, both inclusive. */
  readonly from: string;
  readonly to: string;
  /** Path of the new folder. It must not exist yet. */
  readonly out: string;
  readonly by: Action["by"];
}

const pageRows = 1_000;
const sealTimeoutMs = 60_000;

/**
 * Writes an evidence bundle about a business and a period into a folder. Returns the SHA-256 of the
 * bundle's manifest. The steps are:
 *
 * 1. Write the rows of the services, from one snapshot of each database, and the manifest.
 * 2. Add an audit row with the hash of the manifest and wait until identity seals it.
 * 3. Write the business's audit rows with the links and heads that prove them.
 */
export async function makeBundle(databases: readonly OpenDatabase[], options: BundleOptions): Promise<string> {
  const { businessId, from, out } = options;
  const identity = databases.find(({ service }) => service.name === "identity");
  const evidenceDatabases = databases.filter(({ service }) => service.evidence);
  if (!identity || evidenceDatabases.length < 2)
    throw new CommandError(
      "The databases of identity, payments and webhooks must all respond. Start them and run the command again.",
    );
  if (from > new Date().toISOString().slice(0, 10)) throw new CommandError(`--from ${from} is in the future. Choose a past day.`);
  const [business] = await identity.orm.em.fork().execute<object[]>("select 1 from business where id = ?", [businessId]);
  if (!business) throw new CommandError(`The business ${businessId} does not exist. See: amana businesses list`);
  mkdirSync(out, { mode: 0o700 });
  try {
    return await writeBundle(identity, evidenceDatabases, options);
  } catch (error) {
    // An incomplete bundle proves nothing.
    rmSync(out, { recursive: true });
    throw error;
  }
}

async function writeBundle(
  identity: OpenDatabase,
  evidenceDatabases: readonly OpenDatabase[],
  options: BundleOptions,
): Promise<string> {
  const { businessId, from, to, out, by } = options;
  const files: Record<string, object> = {};
  for (const { service, orm } of evidenceDatabases) {
    await inSnapshot(orm.em, async (em) => {
      const [now] = await em.execute<{ read_at: string }[]>(`select ${isoOf("now()")} as read_at`);
      for (const evidence of service.evidence ?? []) {
        const name = `${evidence.name}.jsonl`;
        await writeLines(join(out, name), rowsOf(em, evidence, options));
        files[name] = { ...(await digestOf(join(out, name))), ...now };
      }
    });
  }
  const content = { business_id: businessId, from, to, made_at: new Date().toISOString(), made_by: by.actor, files };
  const manifest = canonicalJson({ format: "amana-evidence-bundle/1", ...content });
  writeFileSync(join(out, "manifest.json"), manifest, { mode: 0o600 });

  const id = uuidv7();
  const manifest_sha256 = createHash("sha256").update(manifest).digest("hex");
  await transaction(identity.orm, async (em) => {
    identity.service.record(em, new Date(), {
      by,
      action: "evidence_bundle.created",
      entity: { type: "evidence_bundle", id },
      businessId,
      after: { manifest_sha256, from, to },
    });
  });
  const lastNumber = await waitUntilSealed(identity.orm.em, id);
  await inSnapshot(identity.orm.em, (em) => writeProof(em, options, lastNumber));
  return manifest_sha256;
}

const inSnapshot = async <T>(em: SqlEntityManager, work: (em: SqlEntityManager) => Promise<T>): Promise<T> =>
  await (em.fork() as SqlEntityManager).transactional(work, {
    isolationLevel: IsolationLevel.REPEATABLE_READ,
    readOnly: true,
  });

async function writeLines(file: string, rows: Iterable<object> | AsyncIterable<object>): Promise<void> {
  const lines = async function* () {
    for await (const row of rows) yield `${JSON.stringify(row)}\n`;
  };
  await pipeline(lines, createWriteStream(file, { flags: "wx", mode: 0o600 }));
}

async function* rowsOf(
  em: SqlEntityManager,
  { select }: EvidenceFile,
  { businessId, from, to }: BundleOptions,
): AsyncGenerator<object> {
  let last: { at: string; id: string } | undefined;
  do {
    const rows: { at: string; id: string; json: object }[] = await em.execute(
      `select to_json(at) #>> '{}' as at, id, json from (${select}) e
       where at >= ?::date at time zone 'UTC' and at < (?::date + 1) at time zone 'UTC' and (at, id) > (?::timestamptz, ?::uuid)
       order by e.at, id limit ${pageRows}`,
      [businessId, from, to, last?.at ?? "-infinity", last?.id ?? "00000000-0000-0000-0000-000000000000"],
    );
    for (const { json } of rows) yield json;
    last = rows.at(-1);
  } while (last);
}

/**
 * Waits until the audit row of the bundle is sealed and returns its number in the business's chain.
 */
async function waitUntilSealed(em: SqlEntityManager, id: string): Promise<number> {
  for (const until = Date.now() + sealTimeoutMs; Date.now() < until; await sleep(200)) {
    const [link] = await em
      .fork()
      .execute<{ number: number }[]>(
        `select l.business_number::int as number from audit_event e join audit_link l on l.event_id = e.id where e.entity_id = ?`,
        [id],
      );
    if (link) return link.number;
  }
  throw new CommandError(
    "The audit row of the bundle was not sealed within 60 seconds. Start identity and run the command again.",
  );
}

/**
 * Writes the business's audit rows of the period, the last row before the period, and the links and
 * heads of these rows.
 */
async function writeProof(em: SqlEntityManager, { businessId, from, out }: BundleOptions, last: number): Promise<void> {
  await rejectUnsealed(em, businessId);
  const linksOfBusiness = "l.business_id = ? and l.business_number <= ?";
  const [start] = await em.execute<{ first: number; day: string }[]>(
    `select greatest(1, min(business_number) - 1)::int as first, min(day)::text as day from audit_link l where ${linksOfBusiness} and day >= ?::date`,
    [businessId, last, from],
  );
  const { first = last, day: firstDay = from } = start ?? {};
  await writeLines(join(out, "trail.jsonl"), trailOf(em, businessId, first, last));
  await writeLines(join(out, "links.jsonl"), linksOf(em, businessId, last, from));
  const heads = await em.execute<object[]>(
    `select ${headColumns} from audit_head where day >= ?::date - 1
       and (final or (day, links) = (select day, links from audit_head order by day desc, links desc limit 1)) order by day, final`,
    [firstDay],
  );
  await writeLines(join(out, "heads.jsonl"), heads);
}

/**
 * Throws CommandError if a row of the business has no link, because the bundle would omit it
 * silently. Ignores rows that were queued for sealing less than a minute ago, because these rows
 * are newer than the bundle.
 */
async function rejectUnsealed(em: SqlEntityManager, businessId: string): Promise<void> {
  const rows = await em.execute<{ id: string }[]>(
    `select e.id from audit_event e where e.business_id = ?
       and not exists (select from audit_link l where l.event_id = e.id and l.business_id = e.business_id)
       and not exists (select from audit_unsealed q where q.event_id = e.id and q.since > now() - interval '1 minute')
     order by e.id limit 10`,
    [businessId],
  );
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id).join(", ");
  throw new CommandError(
    `Rows of this business are not in the audit chain, so the bundle would be incomplete: ${ids}. Run: amana audit verify`,
  );
}

async function* trailOf(em: SqlEntityManager, businessId: string, first: number, last: number): AsyncGenerator<object> {
  for (let number = first; number <= last; number += pageRows) {
    const rows = await em.execute<Record<string, unknown>[]>(
      `select ${rowColumns}, jsonb_strip_nulls(jsonb_build_object('day', l.day, 'number', l.number, 'business_number', l.business_number,
         'business_previous', encode(l.business_previous, 'hex'))) as sealed
       from audit_link l join audit_event e on e.id = l.event_id
       where l.business_id = ? and l.business_number >= ? and l.business_number < ? and l.business_number <= ? order by l.business_number`,
      [businessId, number, number + pageRows, last],
    );
    for (const { sealed, ...columns } of rows) yield { ...rowOf(columns), sealed };
  }
}

/**
 * Returns the links of all businesses on the days on which this business has a row. Each link has
 * its day, number and leaf.
 */
async function* linksOf(em: SqlEntityManager, businessId: string, last: number, from: string): AsyncGenerator<object> {
  const days = await em.execute<{ day: string }[]>(
    "select distinct day::text as day from audit_link where business_id = ? and business_number <= ? and day >= ?::date order by 1",
    [businessId, last, from],
  );
  for (const { day } of days) {
    for (let after: number | undefined = 0; after !== undefined; ) {
      const links: { number: number }[] = await em.execute(
        `select day::text as day, number::int as number, encode(leaf, 'hex') as leaf from audit_link
         where day = ?::date and number > ? order by number limit ${pageRows}`,
        [day, after],
      );
      yield* links;
      after = links.at(-1)?.number;
    }
  }
}
