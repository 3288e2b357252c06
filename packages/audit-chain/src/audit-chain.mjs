// @ts-check
// The chain of the audit trail: how rows are hashed, linked and vouched for, and how that is checked.
// One file without dependencies, for any Node from 22 on, so that whoever is handed a bundle checks
// it without this repository: docs/audit.md.
import { createHash, createPublicKey, sign, verify } from "node:crypto";
import { createReadStream, existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/**
 * A row of the trail, as GET /api/v1/admin/audit-events shows it. `sealed` is its place in the
 * chain: the day, its number among that day's rows and among its business's, and the leaf of the
 * business's row before.
 * @typedef {Record<string, unknown> & { id: string, business_id?: string }} Row
 * @typedef {{ day: string, number: number, business_number?: number, business_previous?: string }} Place
 * @typedef {Row & { sealed: Place }} SealedRow
 * @typedef {{ number: number, leaf: string, hash?: string }} Link
 * @typedef {{ day: string, links: number, hash: string, previous: string, final: boolean, made_at: string, public_key: string, signature: string }} Head
 * @typedef {{ problem: string, day?: string, number?: number, id?: string, file?: string, detail: string }} Finding
 */

/** What the first day of all begins with. */
export const genesis = "0".repeat(64);

/** Newer than the types: keeps a number's own text. @type {any} */
const json = JSON;

/**
 * JSON, of which numbers that a double would round stay as they are written: two that differ are
 * never read as one. @param {string} text @returns {any}
 */
export const parseJson = (text) =>
  json.parse(text, (/** @type {string} */ _, /** @type {unknown} */ value, /** @type {{ source: string }} */ { source }) =>
    typeof value === "number" && !isExact(value, source) ? json.rawJSON(source) : value,
  );

/** @param {number} value @param {string} source */
const isExact = (value, source) =>
  String(value) === source || (Number.isFinite(value) && decimal(String(value)) === decimal(source));

/** A number's digits and their power of ten, without zeros at either end. @param {string} text */
function decimal(text) {
  const [mantissa = "", power = "0"] = text.replace("-", "").toLowerCase().split("e");
  const [whole = "", part = ""] = mantissa.split(".");
  const digits = (whole + part).replace(/^0+/, "");
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  const sign = text.startsWith("-") ? "-" : "";
  return end === 0 ? "0" : `${sign}${digits.slice(0, end)}e${Number(power) - part.length + digits.length - end}`;
}

/** JSON as RFC 8785 canonicalises it; numbers as `parseJson` keeps them. @param {unknown} value @returns {string} */
export function canonicalJson(value) {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (value === null || typeof value !== "object" || json.isRawJSON(value)) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  // By UTF-16 code units, as the standard orders them.
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(",")}}`;
}

/** @param {string} domain @param {...(string | Buffer)} parts */
function sha256(domain, ...parts) {
  const hash = createHash("sha256").update(`amana audit ${domain}\n`);
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

/** @param {SealedRow} row */
export const leafOf = (row) => sha256("row", canonicalJson(row));

/** @param {string} previous @param {string} leaf */
export const linkHash = (previous, leaf) => sha256("link", Buffer.from(previous, "hex"), Buffer.from(leaf, "hex"));

/** What a head says, which its signature is of. @param {Omit<Head, "signature">} head */
const statement = ({ day, links, hash, previous, final, made_at, public_key }) =>
  `amana audit head\n${canonicalJson({ day, links, hash, previous, final, made_at, public_key })}`;

/** What the next day begins with. @param {Omit<Head, "signature">} head */
export const headHash = (head) => createHash("sha256").update(statement(head)).digest("hex");

/** @param {Omit<Head, "signature" | "public_key">} head @param {import("node:crypto").KeyObject} privateKey @returns {Head} */
export function signHead(head, privateKey) {
  const public_key = createPublicKey(privateKey).export({ format: "der", type: "spki" }).toString("base64");
  const whole = { ...head, public_key };
  return { ...whole, signature: sign(null, Buffer.from(statement(whole)), privateKey).toString("base64") };
}

/** By the key that it names, whoever's that is. @param {Head} head */
export function isSigned(head) {
  try {
    const key = createPublicKey({ key: Buffer.from(head.public_key, "base64"), format: "der", type: "spki" });
    return (
      key.asymmetricKeyType === "ed25519" &&
      verify(null, Buffer.from(statement(head)), key, Buffer.from(head.signature, "base64"))
    );
  } catch {
    return false;
  }
}

/** SQL: a time as the API writes it; one that it cannot write, so that it is like no other. @param {string} time */
export const isoOf = (time) => `case when ${time} >= '0001-01-01 00:00:00Z' and ${time} < 'infinity'
  then to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') else (${time} at time zone 'UTC')::text end`;

/** Columns of audit_head that a head is made of. */
export const headColumns = `day::text, links::int, encode(hash, 'hex') as hash, encode(previous, 'hex') as previous, final,
  ${isoOf("made_at")} as made_at, public_key, signature`;

/** Columns of audit_event `e` that a row is made of. */
export const rowColumns = `e.id, ${isoOf("e.at")} as at, e.actor, e.actor_key_id, e.actor_name,
  e.action, e.entity_type, e.entity_id, e.business_id, e.before::text as before, e.after::text as after, e.reason, e.request_id, e.address`;

/** A row from these columns. @param {Record<string, unknown>} columns @returns {Row} */
export function rowOf({ entity_type, entity_id, id, at, actor, action, request_id, address, ...optional }) {
  const names = ["actor_key_id", "actor_name", "business_id", "before", "after", "reason"];
  const given = names.flatMap((name) => {
    const value = optional[name];
    if (value === null || value === undefined) return [];
    return [[name, name === "before" || name === "after" ? parseJson(String(value)) : value]];
  });
  const entity = { type: entity_type, id: entity_id };
  return { id: String(id), at, actor, action, entity, request_id, address, ...Object.fromEntries(given) };
}

/** Entities whose rows identity writes itself. Other rows arrive by event, which may be delayed. */
const entitiesOfIdentity = new Set(["business", "api_key", "admin_key", "invitation"]);
const dayMs = 86_400_000;
const lateMsMax = { own: 10 * 60_000, byEvent: dayMs };
/** Maximum by which the acting service's clock may be ahead of the sealing process's clock. */
const earlyMsMax = 10 * 60_000;

/**
 * Compares a row's own time, which its writer sets, with the time of its sealing, which lies
 * between `from` and `until` (milliseconds). Reports rows that were sealed more than 10 minutes
 * before their own time, or too late: after 10 minutes for actions of identity, a day for others.
 * @param {Row} row @param {{ day: string, number: number, from: number, until: number, report: (finding: Finding) => void }} sealed
 */
export function checkTime(row, { day, number, from, until, report }) {
  const at = Date.parse(String(row["at"]));
  const { type } = /** @type {{ type?: string }} */ (row["entity"] ?? {});
  const [late, bound] = entitiesOfIdentity.has(type ?? "") ? [lateMsMax.own, "10 minutes"] : [lateMsMax.byEvent, "a day"];
  const what = `row ${row.id}, link ${number} of ${day}, is dated ${row["at"]}`;
  const place = { day, number, id: row.id };
  // An unreadable time is NaN, for which this comparison reports the row.
  if (!(from - at <= late))
    report({
      problem: "row_sealed_late",
      ...place,
      detail: `${what} and was sealed more than ${bound} later: it was added afterwards, or its sealing was delayed`,
    });
  else if (!(at - until <= earlyMsMax))
    report({ problem: "row_sealed_early", ...place, detail: `${what} and was sealed more than 10 minutes earlier` });
}

/** The days from one to another, both included. @param {string} from @param {string} to */
export function* daysBetween(from, to) {
  for (let ms = Date.parse(from); ms <= Date.parse(to); ms += 86_400_000) yield new Date(ms).toISOString().slice(0, 10);
}

/**
 * Checks one day: give it the day's links in order, then end it. `previous` is the hash that it
 * begins with; undefined: what its heads say. `kept`: heads of that day that were kept elsewhere.
 * Ending it answers what the next day begins with; undefined when it is not final.
 * @param {{ day: string, previous: string | undefined, heads: readonly Head[], trusted: ReadonlySet<string> | undefined,
 *   kept?: readonly Head[], report: (finding: Finding) => void }} options
 */
export function checkDay({ day, previous, heads, trusted, kept = [], report }) {
  const begins = previous ?? heads[0]?.previous ?? genesis;
  /** @type {Map<number, { hash: string, whose: string }[]>} */
  const expected = new Map();
  /** @param {Head} head @param {string} whose */
  const expect = (head, whose) => {
    expected.set(head.links, [...(expected.get(head.links) ?? []), { hash: head.hash, whose }]);
  };
  for (const head of heads) {
    const what = `the ${head.final ? "final head" : "head"} of ${day} over ${head.links} links`;
    if (!isSigned(head)) report({ problem: "head_not_signed", day, detail: `${what} was altered, or is not signed` });
    else if (trusted && !trusted.has(head.public_key))
      report({ problem: "head_of_unknown_key", day, detail: `${what} is signed with ${head.public_key}, which nobody trusts` });
    if (head.previous !== begins)
      report({ problem: "head_of_other_chain", day, detail: `${what} does not follow the day before` });
    expect(head, what);
  }
  for (const head of kept) {
    const what = `the head of ${day} over ${head.links} links that was kept elsewhere`;
    if (!isSigned(head)) report({ problem: "kept_head_not_signed", day, detail: `${what} was altered, or is not signed` });
    if (head.previous !== begins)
      report({ problem: "kept_head_not_in_chain", day, detail: `${what} follows another day before` });
    expect(head, what);
  }
  let number = 0;
  let hash = begins;
  const compare = () => {
    for (const { hash: said, whose } of expected.get(number) ?? []) {
      if (said !== hash)
        report({
          problem: whose.endsWith("elsewhere") ? "kept_head_not_in_chain" : "head_not_in_chain",
          day,
          number,
          detail: `${whose} is of another chain than the links are`,
        });
    }
    expected.delete(number);
  };
  compare();
  return {
    /** @param {Link} link */
    add(link) {
      if (link.number !== number + 1)
        report({
          problem: "links_missing",
          day,
          number: number + 1,
          detail: `after link ${number} of ${day} comes ${link.number}`,
        });
      number = link.number;
      const follows = linkHash(hash, link.leaf);
      if (link.hash !== undefined && link.hash !== follows)
        report({
          problem: "link_broken",
          day,
          number,
          detail: `link ${number} of ${day} does not follow the one before: altered, removed or reordered`,
        });
      hash = link.hash ?? follows;
      compare();
    },
    /** @returns {string | undefined} */
    end() {
      for (const [links, [one]] of expected)
        report({
          problem: "links_missing",
          day,
          number: links,
          detail: `${one?.whose} is of more links than the ${number} that are there`,
        });
      const covered = heads.reduce((most, { links }) => Math.max(most, links), 0);
      if (number > covered)
        report({ problem: "head_missing", day, number, detail: `of the ${number} links of ${day}, heads vouch for ${covered}` });
      const final = heads.find((head) => head.final);
      if (final && final.links < number)
        report({ problem: "links_added", day, number, detail: `${day} has ${number} links, and was ended with ${final.links}` });
      return final && headHash(final);
    },
  };
}

/** A row of the trail has a few thousand characters; whoever bends a bundle may write any. */
const lineMax = 2 ** 24;

/**
 * Each line of a file of JSON, and what it says. Lines end at a line feed alone: a text may have
 * other ends of lines in it.
 * @param {string} file @returns {AsyncGenerator<{ text: string, value: any }>}
 */
async function* linesOf(file) {
  /** @type {string[]} */
  let parts = [];
  let length = 0;
  for await (const chunk of createReadStream(file, "utf8")) {
    const [first = "", ...lines] = chunk.split("\n");
    parts.push(first);
    length += first.length;
    if (length > lineMax) throw new Error(`${basename(file)} has a line of more than ${lineMax} characters`);
    for (const line of lines) {
      const text = parts.join("");
      if (text !== "") yield { text, value: parseJson(text) };
      parts = [line];
      length = line.length;
    }
  }
  const text = parts.join("");
  if (text !== "") yield { text, value: parseJson(text) };
}

/** @param {unknown} text */
const isDay = (text) => typeof text === "string" && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

/** @param {string} file @returns {Promise<{ sha256: string, rows: number }>} */
export async function digestOf(file) {
  const hash = createHash("sha256");
  let rows = 0;
  for await (const chunk of createReadStream(file)) {
    hash.update(chunk);
    for (const byte of chunk) if (byte === 10) rows += 1;
  }
  return { sha256: hash.digest("hex"), rows };
}

const ownFiles = ["manifest.json", "trail.jsonl", "links.jsonl", "heads.jsonl"];

/**
 * Checks an evidence bundle, a folder, with nothing else: its files against the manifest, the
 * manifest against the row of the trail that was written when it was made, the business's rows
 * against each other and against the links, and these against heads signed with a trusted key.
 * @param {string} folder
 * @param {{ trusted: ReadonlySet<string>, kept?: readonly Head[], report: (finding: Finding) => void }} options
 */
export async function verifyBundle(folder, { trusted, kept = [], report }) {
  try {
    return await checkBundle(folder, { trusted, kept, report });
  } catch (error) {
    // What is no bundle at all may fail anywhere.
    report({ problem: "unreadable", detail: `the bundle cannot be read: ${error instanceof Error ? error.message : error}` });
    return undefined;
  }
}

/** @param {string} folder @param {{ trusted: ReadonlySet<string>, kept: readonly Head[], report: (finding: Finding) => void }} options */
async function checkBundle(folder, { trusted, kept, report }) {
  const missing = ownFiles.filter((name) => !existsSync(join(folder, name)));
  for (const file of missing) report({ problem: "file_missing", file, detail: `${file} is missing` });
  if (missing.length > 0) return undefined;
  const text = readFileSync(join(folder, "manifest.json"));
  const manifest = JSON.parse(text.toString());
  for (const file of readdirSync(folder)) {
    if (!ownFiles.includes(file) && !Object.hasOwn(manifest.files, file))
      report({ problem: "file_unknown", file, detail: `${file} is not in the manifest` });
  }
  for (const [file, said] of Object.entries(manifest.files)) {
    if (file !== basename(file) || !existsSync(join(folder, file))) {
      report({ problem: "file_missing", file, detail: `${file} is missing` });
      continue;
    }
    const { sha256: found, rows } = await digestOf(join(folder, file));
    if (found !== said.sha256)
      report({ problem: "file_changed", file, detail: `${file} was changed: it has ${rows} lines, and had ${said.rows}` });
  }

  const trail = await readTrail(folder, manifest, createHash("sha256").update(text).digest("hex"), report);
  await checkLinks(folder, manifest.from, { trail, trusted, kept, report });
  return manifest;
}

/** The business's rows, each with its leaf, by their places. @param {string} folder @param {any} manifest @param {string} manifestHash @param {(finding: Finding) => void} report */
async function readTrail(folder, manifest, manifestHash, report) {
  /** @type {Map<string, { leaf: string, id: string, row: Row }>} */
  const places = new Map();
  /** @type {SealedRow | undefined} */
  let before;
  let leaf = "";
  let vouched = false;
  for await (const { text, value } of linesOf(join(folder, "trail.jsonl"))) {
    /** @type {SealedRow} */
    const row = value;
    const { day, number, business_number = 0, business_previous } = row.sealed;
    const place = { day, number: business_number, id: row.id };
    // Of a member that is there twice, another reader may take the other one.
    if (JSON.stringify(row) !== text)
      report({ problem: "row_changed", ...place, detail: `row ${row.id} is not written as it was` });
    if (row.business_id !== manifest.business_id)
      report({ problem: "row_of_another", ...place, detail: `row ${row.id} is not of this business` });
    if (before && business_number !== (before.sealed.business_number ?? 0) + 1)
      report({
        problem: "row_missing",
        ...place,
        detail: `before row ${business_number} of this business, ${row.id}, rows were left out`,
      });
    else if (before && business_previous !== leaf)
      report({
        problem: "row_changed",
        ...place,
        id: before.id,
        detail: `row ${before.id} was changed: the next one does not follow it`,
      });
    if (!before && business_number !== 1 && day >= manifest.from)
      report({ problem: "row_missing", ...place, detail: `rows before ${row.id} were left out` });
    leaf = leafOf(row);
    if (day >= manifest.from) places.set(`${day}/${number}`, { leaf, id: row.id, row: timeOf(row) });
    const after = /** @type {Record<string, unknown> | undefined} */ (row["after"]);
    vouched =
      row["action"] === "evidence_bundle.created" &&
      after?.["manifest_sha256"] === manifestHash &&
      after["from"] === manifest.from &&
      after["to"] === manifest.to &&
      isDay(manifest.from);
    before = row;
  }
  // Whatever the manifest says of days: who vouches for it has to be in the chain.
  if (before) places.set(`${before.sealed.day}/${before.sealed.number}`, { leaf, id: before.id, row: timeOf(before) });
  if (!vouched)
    report({
      problem: "manifest_not_vouched",
      file: "manifest.json",
      detail: "the trail does not say of this manifest that a bundle was made with it",
    });
  return places;
}

/** Returns the members that `checkTime` reads. @param {Row} row @returns {Row} */
const timeOf = ({ id, at, entity }) => ({ id, at, entity });

/** @param {string} folder @param {string} from @param {{ trail: Map<string, { leaf: string, id: string, row: Row }>, trusted: ReadonlySet<string>, kept: readonly Head[], report: (finding: Finding) => void }} options */
async function checkLinks(folder, from, { trail, trusted, kept, report }) {
  /** @type {Map<string, Head[]>} */
  const heads = new Map();
  for await (const { value: head } of linesOf(join(folder, "heads.jsonl")))
    heads.set(head.day, [...(heads.get(head.day) ?? []), head]);
  const days = [...heads.keys()].sort();
  const [first = from] = days;
  const last = days.at(-1) ?? from;
  const links = linesOf(join(folder, "links.jsonl"));
  let next = (await links.next()).value?.value;
  /** @type {string | undefined} */
  let previous;
  for (const day of daysBetween(first, last)) {
    const ofDay = heads.get(day) ?? [];
    const keptOfDay = kept.filter((head) => head.day === day);
    const checked = checkDay({ day, previous, heads: ofDay, trusted, kept: keptOfDay, report });
    const isWhole = next?.day === day;
    for (; next?.day === day; next = (await links.next()).value?.value) {
      const own = trail.get(`${day}/${next.number}`);
      if (own && own.leaf !== next.leaf)
        report({
          problem: "row_changed",
          day,
          number: next.number,
          id: own.id,
          detail: `row ${own.id}, link ${next.number} of ${day}, was changed`,
        });
      // A bundle does not have the head of each batch, so only the day of sealing is known. A wrong
      // clock may move it by a day. Rows of the chain's first day may be older than the chain.
      const startMs = Date.parse(day);
      if (own && ofDay[0]?.previous !== genesis)
        checkTime(own.row, { day, number: next.number, from: startMs - dayMs, until: startMs + 2 * dayMs, report });
      trail.delete(`${day}/${next.number}`);
      checked.add({ number: next.number, leaf: next.leaf });
    }
    if (isWhole) checked.end();
    const final = ofDay.find((head) => head.final);
    if (!isWhole && final && keptOfDay.some((head) => head.final && head.hash !== final.hash))
      report({ problem: "kept_head_not_in_chain", day, detail: `the final head of ${day} is another than was kept elsewhere` });
    previous = final && headHash(final);
    if (!final && day !== last) report({ problem: "head_missing", day, detail: `${day} has no final head` });
  }
  if (next) report({ problem: "head_missing", day: next.day, detail: `no head vouches for the links of ${next.day}` });
  for (const [place, { id }] of trail) report({ problem: "row_not_in_chain", id, detail: `row ${id} has no link at ${place}` });
}

/** Heads in the lines of a file: as they are, or as identity logs them. @param {string} file @returns {Head[]} */
export function readHeads(file) {
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        const value = JSON.parse(line);
        const head = value.audit_head ?? value;
        return head.signature && head.day ? [head] : [];
      } catch {
        return [];
      }
    });
}

/** Public keys as make-caller-key prints them, or as heads name them. @param {readonly string[]} given */
export const trustedKeys = (given) => new Set(given.map((key) => key.slice(key.indexOf(":") + 1)));

// By itself: node audit-chain.mjs <folder> --public-key <key> [--head <file>]
if (process.argv[1]?.endsWith("audit-chain.mjs")) {
  const { parseArgs } = await import("node:util");
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { "public-key": { type: "string", multiple: true, default: [] }, head: { type: "string" } },
  });
  const [folder] = positionals;
  const keys = values["public-key"] ?? [];
  if (!folder || keys.length === 0) {
    process.stderr.write(
      "node audit-chain.mjs <folder> --public-key <key> [--public-key <former key>] [--head <file with kept heads>]\n",
    );
    process.exit(2);
  }
  let problems = 0;
  /** @param {Finding} finding */
  const report = ({ problem, detail }) => {
    problems += 1;
    process.stdout.write(`${problem}: ${detail.replaceAll(/\p{Cc}|\p{Cf}/gu, "?")}\n`);
  };
  await verifyBundle(folder, { trusted: trustedKeys(keys), kept: values.head ? readHeads(values.head) : [], report });
  process.stdout.write(problems === 0 ? "Nothing is wrong.\n" : `${problems} problems.\n`);
  process.exitCode = problems === 0 ? 0 : 4;
}
