import {
  checkDay,
  checkTime,
  type Finding,
  genesis,
  type Head,
  headColumns,
  headHash,
  isSigned,
  leafOf,
  rowColumns,
  rowOf,
} from "@amana/audit-chain";
import type { Orm } from "@amana/database";
import { IsolationLevel, type SqlEntityManager } from "@mikro-orm/postgresql";

export interface VerifyOptions {
  /** First day to verify, in UTC, such as 2026-11-20. Default: the first day of the chain. */
  readonly from?: string;
  readonly to?: string;
  /** Public keys that may sign heads. Default: any key. */
  readonly trustedKeys: ReadonlySet<string> | undefined;
  /** Heads that were stored outside this database, so that its owner cannot change them. */
  readonly keptHeads: readonly Head[];
  readonly report: (finding: Finding) => void;
  readonly progress: (day: string, rows: number) => void;
}

interface LinkRow extends Record<string, unknown> {
  readonly number: number;
  readonly link_id: string;
  readonly event_id: string;
  readonly leaf: string;
  readonly hash: string;
  readonly business_number: number | null;
  readonly business_previous: string | null;
  /** Column `business_id` of the link. The link's hash does not include this column. */
  readonly link_business_id: string | null;
  readonly is_old: boolean;
}

/** Last checked link of each business. */
type Businesses = Map<string, { number: number | null; leaf: string }>;

const pageRows = 2_000;
const nil = "00000000-0000-0000-0000-000000000000";
/** Makes PostgreSQL use index lookups, so that a query reads only the rows of its page. */
const forceIndexScans =
  "select set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('enable_bitmapscan', 'off', true)";
const retention = "interval '5 years'";
/** Period after the chain began in which rows that are older than the chain may be sealed. */
const firstSealingsMs = 24 * 60 * 60_000;
/**
 * Problems of heads. For days whose rows and links were dropped with their partition, only these
 * problems are reported.
 */
const headProblems = new Set(["head_not_signed", "head_of_unknown_key", "head_of_other_chain", "kept_head_not_signed"]);

/**
 * Verifies the chain day by day, and then searches for rows without a link. Each day is read in one
 * snapshot, page by page. Writes nothing. Returns the numbers of days and rows, the public keys in
 * the heads of these days (`keys`), and the newest of these heads.
 */
export async function verifyTrail(orm: Orm, options: VerifyOptions) {
  const { report, trustedKeys, progress } = options;
  const em = orm.em.fork() as SqlEntityManager;
  const days = await daysOf(em, options);
  const [firstDay] = days;
  let previous = firstDay && (await endOfDayBefore(em, firstDay, report));
  const businesses: Businesses = new Map();
  let rows = 0;
  let newest: Head | undefined;
  const keys = new Set<string>();
  const [retained] = await em.execute<{ dropped_before: string }[]>(
    `select (now() at time zone 'UTC' - ${retention} + interval '1 day')::date::text as dropped_before`,
  );

  const chainBeganMs = await beginningOfChain(em);
  const startsAtGenesis = previous === genesis && firstDay !== undefined && firstDay >= (retained?.dropped_before ?? "");
  for (const [i, day] of days.entries()) {
    const isDropped = day < (retained?.dropped_before ?? "");
    const reportOfDay = (finding: Finding) => {
      if (!isDropped || headProblems.has(finding.problem)) report(finding);
    };
    await em.transactional(
      async (dayEm) => {
        await dayEm.execute(forceIndexScans);
        const heads = await dayEm.execute<Head[]>(
          `select ${headColumns} from audit_head where day = ?::date order by links, final`,
          [day],
        );
        for (const { public_key } of heads) keys.add(public_key);
        newest = heads.at(-1) ?? newest;
        const kept = options.keptHeads.filter((head) => head.day === day);
        const dayCheck = checkDay({ day, previous, heads, trusted: trustedKeys, kept, report: reportOfDay });
        // For a day whose links were dropped, only its heads can be compared.
        for (const { links, final, hash } of isDropped ? kept : []) {
          if (heads.some((head) => head.links === links && head.final === final && head.hash !== hash))
            report({
              problem: "kept_head_not_in_chain",
              day,
              detail: `the head of ${day} (${links} entries) differs from the separately stored head`,
            });
        }
        const sealings = heads.values();
        let sealing = sealings.next().value;
        for await (const link of linksOf(dayEm, day)) {
          while (sealing && sealing.links < link.number) sealing = sealings.next().value;
          checkRow(day, link, reportOfDay);
          if (sealing) checkSealing(day, link, { sealedAtMs: Date.parse(sealing.made_at), chainBeganMs, report: reportOfDay });
          checkBusiness(day, link, { businesses, startsAtGenesis, report: reportOfDay });
          dayCheck.add(link);
          if (++rows % pageRows === 0) progress(day, rows);
        }
        previous = dayCheck.end();
      },
      { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true },
    );
    if (previous === undefined && i < days.length - 1)
      report({ problem: "head_missing", day, detail: `${day} has no final head` });
  }
  for (const { day, links } of options.keptHeads) {
    if (isInRange(day, options) && !days.includes(day))
      report({
        problem: "kept_head_not_in_chain",
        day,
        detail: `the audit chain has no day ${day}, but a separately stored head covers ${links} entries of this day`,
      });
  }
  await em.transactional(async (snapshotEm) => {
    await snapshotEm.execute(forceIndexScans);
    await findUnlinked(snapshotEm, options);
  });
  return { days: days.length, rows, keys: [...keys], newest };
}

const isInRange = (day: string, { from = "", to = "9" }: VerifyOptions) => day >= from && day <= to;

/** Returns every day from the first to the last, including days without links and heads. */
async function daysOf(em: SqlEntityManager, options: VerifyOptions): Promise<string[]> {
  const [ends] = await em.execute<{ first: string | null; last: string | null }[]>(
    `select least((select min(day) from audit_head), (select min(day) from audit_link))::text as first,
       greatest((select max(day) from audit_head), (select max(day) from audit_link))::text as last`,
  );
  if (!ends?.first || !ends.last) return [];
  const days = await em.execute<{ day: string }[]>(
    "select d::date::text as day from generate_series(?::date, ?::date, interval '1 day') as d order by 1",
    [ends.first, ends.last],
  );
  return days.map(({ day }) => day).filter((day) => isInRange(day, options));
}

/**
 * Returns the hash of the final head before `day`, or `genesis` if no earlier day exists. Returns
 * undefined if the head is missing.
 */
async function endOfDayBefore(em: SqlEntityManager, day: string, report: VerifyOptions["report"]): Promise<string | undefined> {
  const [head] = await em.execute<Head[]>(`select ${headColumns} from audit_head where day = ?::date - 1 and final`, [day]);
  if (head) return headHash(head);
  const [earlier] = await em.execute<{ day: string | null }[]>(
    "select max(day)::text as day from audit_head where day < ?::date",
    [day],
  );
  // Heads are never deleted, so the first head has no predecessor.
  if (!earlier?.day) return genesis;
  report({ problem: "head_missing", day, detail: `the day before ${day} has no final head` });
  return undefined;
}

async function* linksOf(em: SqlEntityManager, day: string): AsyncGenerator<LinkRow> {
  // Identity writes each number once, beginning with 1. The query also returns links with a lower
  // or a repeated number, so that the verification reports them.
  for (let after: { number: number; link_id: string } | undefined = { number: Number.MIN_SAFE_INTEGER, link_id: nil }; after; ) {
    const links: LinkRow[] = await em.execute<LinkRow[]>(
      `select ${rowColumns}, l.number::float8 as number, l.id as link_id, l.event_id, encode(l.leaf, 'hex') as leaf, encode(l.hash, 'hex') as hash,
         l.business_number::int as business_number, encode(l.business_previous, 'hex') as business_previous,
         l.business_id as link_business_id,
         uuid_time(l.event_id) < now() - ${retention} as is_old
       from audit_link l left join audit_event e on e.id = l.event_id
       where l.day = ?::date and l.number >= ?::bigint and (l.number, l.id) > (?::bigint, ?::uuid) order by l.number, l.id limit ${pageRows}`,
      [day, after.number, after.number, after.link_id],
    );
    yield* links;
    after = links.at(-1);
  }
}

/** Returns the time at which the chain began, which is the time of the first head. */
async function beginningOfChain(em: SqlEntityManager): Promise<number> {
  const [head] = await em.execute<Head[]>(`select ${headColumns} from audit_head order by day, links, final limit 1`);
  return head && isSigned(head) ? Date.parse(head.made_at) : Number.NEGATIVE_INFINITY;
}

/** Compares the time of a row with the time of the head that sealed the row's batch. */
function checkSealing(
  day: string,
  link: LinkRow,
  { sealedAtMs, chainBeganMs, report }: { sealedAtMs: number; chainBeganMs: number; report: VerifyOptions["report"] },
): void {
  if (link["id"] === null) return;
  const isOlderThanChain = Date.parse(String(link["at"])) < chainBeganMs && sealedAtMs - chainBeganMs <= firstSealingsMs;
  if (isOlderThanChain) return;
  checkTime(rowOf(link), { day, number: link.number, from: sealedAtMs, until: sealedAtMs, report });
}

function checkRow(day: string, link: LinkRow, report: VerifyOptions["report"]): void {
  const { number, event_id: id, business_number, business_previous, leaf, is_old, link_business_id, ...columns } = link;
  const reportRow = (problem: Finding["problem"], detail: string) => report({ problem, day, number, id, detail });
  if (columns["id"] === null) {
    // If the row is missing, the id in the link is unproven, so the time in this id may be forged.
    const exception = is_old
      ? "; this is no problem if the row is older than the audit chain and its five years of retention are over"
      : "";
    reportRow("row_deleted", `row ${id} (audit chain entry ${number} of ${day}) was deleted${exception}`);
    return;
  }
  const sealedRow = {
    day,
    number,
    ...(business_number !== null && { business_number }),
    ...(business_previous !== null && { business_previous }),
  };
  if (leafOf({ ...rowOf(columns), sealed: sealedRow }) !== leaf)
    reportRow("row_changed", `row ${id} (audit chain entry ${number} of ${day}) was changed`);
  else if (columns["business_id"] !== link_business_id)
    reportRow("link_broken", `audit chain entry ${number} of ${day} and row ${id} have different businesses`);
}

/**
 * Checks the business's own chain, which proves that a bundle omits none of the business's rows.
 */
function checkBusiness(
  day: string,
  { number, event_id: id, link_business_id, business_number, business_previous, leaf }: LinkRow,
  { businesses, startsAtGenesis, report }: { businesses: Businesses; startsAtGenesis: boolean; report: VerifyOptions["report"] },
): void {
  if (link_business_id === null) return;
  const previousLink = businesses.get(link_business_id) ?? (startsAtGenesis ? { number: 0, leaf: null } : undefined);
  businesses.set(link_business_id, { number: business_number, leaf });
  if (!previousLink || (business_number === (previousLink.number ?? 0) + 1 && business_previous === previousLink.leaf)) return;
  report({
    problem: "link_broken",
    day,
    number,
    id,
    detail: `audit chain entry ${number} of ${day} does not follow the previous entry of business ${link_business_id}`,
  });
}

/**
 * Reports rows without a link: rows that were never queued, were removed from the queue, have been
 * queued for too long, or were deleted.
 */
async function findUnlinked(em: SqlEntityManager, { from, to, report }: VerifyOptions): Promise<void> {
  const [bounds] = await em.execute<{ first: string; below: string | null }[]>(
    "select coalesce(uuid_at(?::date at time zone 'UTC'), ?) as first, uuid_at((?::date + 1) at time zone 'UTC') as below",
    [from ?? null, nil, to ?? null],
  );
  // The nil UUID is a valid id, so the first page includes its lower bound. The next pages exclude
  // their lower bound.
  let { first: after, compare }: { first: string | null; compare: ">=" | ">" } = { first: bounds?.first ?? nil, compare: ">=" };
  while (after !== null) {
    const pages: { last: string | null; ids: string[] }[] = await em.execute(
      `with next as (
         select id from audit_event where id ${compare} ?::uuid and (?::uuid is null or id < ?::uuid) order by id limit ${pageRows}
       )
       select (select id from next order by id desc limit 1) as last, array(
         select id from next where not exists (select from audit_link l where l.event_id = next.id)
           and not exists (select from audit_unsealed q where q.event_id = next.id)
           and not exists (
             select from audit_sweep s where s.after_id < next.id
               and uuid_time(next.id) < coalesce((select min(made_at) from audit_head), now()))
       ) as ids`,
      [after, bounds?.below ?? null, bounds?.below ?? null],
    );
    for (const id of pages[0]?.ids ?? [])
      report({
        problem: "row_past_chain",
        id,
        detail: `row ${id} has no audit chain entry and is not queued for sealing: the row bypassed the queue, or was removed from the queue`,
      });
    compare = ">";
    after = pages[0]?.last ?? null;
  }
  const queuedRows = await em.execute<{ id: string; is_gone: boolean }[]>(
    `select q.event_id as id, e.id is null as is_gone from audit_unsealed q left join audit_event e on e.id = q.event_id
     where e.id is null or q.since < now() - interval '1 minute' order by q.since limit 1000`,
  );
  for (const { id, is_gone } of queuedRows) {
    if (is_gone) report({ problem: "row_deleted", id, detail: `row ${id} was deleted before it was sealed` });
    else
      report({
        problem: "row_not_sealed",
        id,
        detail: `row ${id} has been queued for sealing for more than a minute; check that identity runs`,
      });
  }
}
