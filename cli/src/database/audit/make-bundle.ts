import { createHash } from "node:crypto";
import { createWriteStream, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { canonicalJson, digestOf, headColumns, isoOf, rowColumns, rowOf } from "@amana/audit-chain";
import { transaction } from "@amana/database";
import type { Action } from "@amana/messaging";
import { sleep, uuidv7 } from "@amana/runtime";
import type { Evidence } from "@amana/service-host";
import { IsolationLevel, type SqlEntityManager } from "@mikro-orm/postgresql";
import { Refused } from "../../refused.ts";
import type { OpenDatabase } from "../services.ts";

export interface BundleOptions {
  readonly businessId: string;
  /** Days in UTC, both included. */
  readonly from: string;
  readonly to: string;
  /** A folder that is not there yet. */
  readonly out: string;
  readonly by: Action["by"];
}

const page = 1_000;
const sealedWithinMs = 60_000;

/**
 * Writes what there is of one business and one period into a folder: first what services have, each
 * database in one snapshot, and a manifest of it; then, when the audit trail has a row that vouches
 * for the manifest and is sealed, the business's rows of the trail with what proves them.
 */
export async function makeBundle(opened: readonly OpenDatabase[], options: BundleOptions): Promise<string> {
  const { businessId, from, out } = options;
  const identity = opened.find(({ service }) => service.name === "identity");
  const withEvidence = opened.filter(({ service }) => service.evidence);
  if (!identity || withEvidence.length < 2) throw new Refused("A bundle needs the databases of identity, payments and webhooks.");
  if (from > new Date().toISOString().slice(0, 10))
    throw new Refused(`${from} is a day to come: there is nothing to prove of it.`);
  const [known] = await identity.orm.em.fork().execute<object[]>("select 1 from business where id = ?", [businessId]);
  if (!known) throw new Refused(`There is no business ${businessId}.`);
  mkdirSync(out, { mode: 0o700 });
  try {
    return await fill(identity, withEvidence, options);
  } catch (error) {
    // Half a bundle proves nothing.
    rmSync(out, { recursive: true });
    throw error;
  }
}

async function fill(identity: OpenDatabase, withEvidence: readonly OpenDatabase[], options: BundleOptions): Promise<string> {
  const { businessId, from, to, out, by } = options;
  const files: Record<string, object> = {};
  for (const { service, orm } of withEvidence) {
    await inSnapshot(orm.em, async (em) => {
      const [now] = await em.execute<{ read_at: string }[]>(`select ${isoOf("now()")} as read_at`);
      for (const evidence of service.evidence ?? []) {
        const name = `${evidence.name}.jsonl`;
        await writeLines(join(out, name), rowsOf(em, evidence, options));
        files[name] = { ...(await digestOf(join(out, name))), ...now };
      }
    });
  }
  const made = { business_id: businessId, from, to, made_at: new Date().toISOString(), made_by: by.actor, files };
  const manifest = canonicalJson({ format: "amana-evidence-bundle/1", ...made });
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
  const last = await sealedNumber(identity.orm.em, id);
  await inSnapshot(identity.orm.em, (em) => writeProof(em, options, last));
  return manifest_sha256;
}

const inSnapshot = async <T>(em: SqlEntityManager, work: (em: SqlEntityManager) => Promise<T>): Promise<T> =>
  await (em.fork() as SqlEntityManager).transactional(work, {
    isolationLevel: IsolationLevel.REPEATABLE_READ,
    readOnly: true,
  });

async function writeLines(file: string, rows: AsyncGenerator<object>): Promise<void> {
  const lines = async function* () {
    for await (const row of rows) yield `${JSON.stringify(row)}\n`;
  };
  await pipeline(Readable.from(lines()), createWriteStream(file, { flags: "wx", mode: 0o600 }));
}

async function* rowsOf(
  em: SqlEntityManager,
  { select }: Evidence,
  { businessId, from, to }: BundleOptions,
): AsyncGenerator<object> {
  let last: { at: string; id: string } | undefined;
  do {
    const rows: { at: string; id: string; json: object }[] = await em.execute(
      `select to_json(at) #>> '{}' as at, id, json from (${select}) e
       where at >= ?::date at time zone 'UTC' and at < (?::date + 1) at time zone 'UTC' and (at, id) > (?::timestamptz, ?::uuid)
       order by e.at, id limit ${page}`,
      [businessId, from, to, last?.at ?? "-infinity", last?.id ?? "00000000-0000-0000-0000-000000000000"],
    );
    for (const { json } of rows) yield json;
    last = rows.at(-1);
  } while (last);
}

/** Which of its business's rows the one about this bundle is, once it is sealed. */
async function sealedNumber(em: SqlEntityManager, id: string): Promise<number> {
  for (const until = Date.now() + sealedWithinMs; Date.now() < until; await sleep(200)) {
    const [link] = await em
      .fork()
      .execute<{ number: number }[]>(
        `select l.business_number::int as number from audit_event e join audit_link l on l.event_id = e.id where e.entity_id = ?`,
        [id],
      );
    if (link) return link.number;
  }
  throw new Refused("Nobody seals the audit trail: start identity, then make the bundle again.");
}

/** The business's rows from the period on, the one before them too, and what proves them. */
async function writeProof(em: SqlEntityManager, { businessId, from, out }: BundleOptions, last: number): Promise<void> {
  await refuseUnsealed(em, businessId);
  const own = "l.business_id = ? and l.business_number <= ?";
  const [begin] = await em.execute<{ first: number; day: string }[]>(
    `select greatest(1, min(business_number) - 1)::int as first, min(day)::text as day from audit_link l where ${own} and day >= ?::date`,
    [businessId, last, from],
  );
  const { first = last, day: firstDay = from } = begin ?? {};
  await writeLines(join(out, "trail.jsonl"), trailOf(em, businessId, first, last));
  await writeLines(join(out, "links.jsonl"), linksOf(em, businessId, last, from));
  const heads = await em.execute<object[]>(
    `select ${headColumns} from audit_head where day >= ?::date - 1
       and (final or (day, links) = (select day, links from audit_head order by day desc, links desc limit 1)) order by day, final`,
    [firstDay],
  );
  await writeLines(join(out, "heads.jsonl"), each(heads));
}

/**
 * A row of the business that no link holds would be left out, and nothing in the bundle would say
 * so. One of the last minute may wait for its link: it is of after the bundle.
 */
async function refuseUnsealed(em: SqlEntityManager, businessId: string): Promise<void> {
  const rows = await em.execute<{ id: string }[]>(
    `select e.id from audit_event e where e.business_id = ?
       and not exists (select from audit_link l where l.event_id = e.id and l.business_id = e.business_id)
       and not exists (select from audit_unsealed q where q.event_id = e.id and q.since > now() - interval '1 minute')
     order by e.id limit 10`,
    [businessId],
  );
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id).join(", ");
  throw new Refused(
    `The chain does not hold rows of this business, so a bundle would lack them: ${ids}. See amana audit verify.`,
  );
}

async function* each<T>(rows: readonly T[]): AsyncGenerator<T> {
  yield* rows;
}

async function* trailOf(em: SqlEntityManager, businessId: string, first: number, last: number): AsyncGenerator<object> {
  for (let number = first; number <= last; number += page) {
    const rows = await em.execute<Record<string, unknown>[]>(
      `select ${rowColumns}, jsonb_strip_nulls(jsonb_build_object('day', l.day, 'number', l.number, 'business_number', l.business_number,
         'business_previous', encode(l.business_previous, 'hex'))) as sealed
       from audit_link l join audit_event e on e.id = l.event_id
       where l.business_id = ? and l.business_number >= ? and l.business_number < ? and l.business_number <= ? order by l.business_number`,
      [businessId, number, number + page, last],
    );
    for (const { sealed, ...columns } of rows) yield { ...rowOf(columns), sealed };
  }
}

/** All links of the days on which a row of this business was sealed: of others' the leaves. */
async function* linksOf(em: SqlEntityManager, businessId: string, last: number, from: string): AsyncGenerator<object> {
  const days = await em.execute<{ day: string }[]>(
    "select distinct day::text as day from audit_link where business_id = ? and business_number <= ? and day >= ?::date order by 1",
    [businessId, last, from],
  );
  for (const { day } of days) {
    for (let after: number | undefined = 0; after !== undefined; ) {
      const links: { number: number }[] = await em.execute(
        `select day::text as day, number::int as number, encode(leaf, 'hex') as leaf from audit_link
         where day = ?::date and number > ? order by number limit ${page}`,
        [day, after],
      );
      yield* links;
      after = links.at(-1)?.number;
    }
  }
}
