// @ts-check
// The chain of the audit trail: the hashes and links of its rows, the signed heads, and the
// functions that verify them. This file has no dependencies, so that the recipient of an evidence
// bundle can verify the bundle without this repository (docs/audit.md). It needs Node 22 or later.
import { createHash, createPublicKey, sign, verify } from "node:crypto";
import { createReadStream, existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/**
 * A row of the trail, as GET /api/v1/admin/audit-events returns it. `sealed` is the place of the
 * row in the chain: its day, its `number` on that day, its number among the rows of the business
 * (`business_number`), and the leaf of the business's previous row (`business_previous`).
 * @typedef {Record<string, unknown> & { id: string, business_id?: string }} Row
 * @typedef {{ day: string, number: number, business_number?: number, business_previous?: string }} Place
 * @typedef {Row & { sealed: Place }} SealedRow
 * @typedef {{ number: number, leaf: string, hash?: string }} Link
 * @typedef {{ day: string, links: number, hash: string, previous: string, final: boolean, made_at: string, public_key: string, signature: string }} Head
 * @typedef {{ problem: string, day?: string, number?: number, id?: string, file?: string, detail: string }} Finding
 */

/** Value of `previous` in the heads of the chain's first day. */
export const genesis = "0".repeat(64);

/** The global `JSON` with `rawJSON`, which TypeScript's types do not contain yet. @type {any} */
const json = JSON;

/**
 * Parses JSON. A number that a double would round keeps its text, so that two different numbers
 * stay different. @param {string} text @returns {any}
 */
export const parseJson = (text) =>
  json.parse(text, (/** @type {string} */ _, /** @type {unknown} */ value, /** @type {{ source: string }} */ { source }) =>
    typeof value === "number" && !isExact(value, source) ? json.rawJSON(source) : value,
  );

/** @param {number} value @param {string} source */
const isExact = (value, source) =>
  String(value) === source || (Number.isFinite(value) && decimal(String(value)) === decimal(source));

/**
 * Returns a number in a normal form: its digits without leading and trailing zeros, and a power of
 * ten.
 * @param {string} text
 */
function decimal(text) {
  const [mantissa = "", power = "0"] = text.replace("-", "").toLowerCase().split("e");
  const [whole = "", part = ""] = mantissa.split(".");
  const digits = (whole + part).replace(/^0+/, "");
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  const sign = text.startsWith("-") ? "-" : "";
  return end === 0 ? "0" : `${sign}${digits.slice(0, end)}e${Number(power) - part.length + digits.length - end}`;
}

/**
 * Returns canonical JSON (RFC 8785), except that numbers have the text that `parseJson` keeps.
 * @param {unknown} value @returns {string}
 */
export function canonicalJson(value) {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (value === null || typeof value !== "object" || json.isRawJSON(value)) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  // RFC 8785 orders members by UTF-16 code units.
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

/** Returns the signed text of a head. @param {Omit<Head, "signature">} head */
const statement = ({ day, links, hash, previous, final, made_at, public_key }) =>
  `amana audit head\n${canonicalJson({ day, links, hash, previous, final, made_at, public_key })}`;

/**
 * Returns the hash of a head. The heads of the next day contain this hash as `previous`.
 * @param {Omit<Head, "signature">} head
 */
export const headHash = (head) => createHash("sha256").update(statement(head)).digest("hex");

/**
 * @param {Omit<Head, "signature" | "public_key">} head @param {import("node:crypto").KeyObject}
 * privateKey @returns {Head}
 */
export function signHead(head, privateKey) {
  const public_key = createPublicKey(privateKey).export({ format: "der", type: "spki" }).toString("base64");
  const unsigned = { ...head, public_key };
  return { ...unsigned, signature: sign(null, Buffer.from(statement(unsigned)), privateKey).toString("base64") };
}

/**
 * Returns whether a head's signature is valid for the public key in the head. Does not check
 * whether that key is trusted.
 * @param {Head} head
 */
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

/**
 * Returns SQL that formats a time as the API does. A time that this format cannot represent gets
 * PostgreSQL's format, so that different times have different texts. @param {string} time
 */
export const isoOf = (time) => `case when ${time} >= '0001-01-01 00:00:00Z' and ${time} < 'infinity'
  then to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') else (${time} at time zone 'UTC')::text end`;

/** SQL columns of the table audit_head that form a head. */
export const headColumns = `day::text, links::int, encode(hash, 'hex') as hash, encode(previous, 'hex') as previous, final,
  ${isoOf("made_at")} as made_at, public_key, signature`;

/** SQL columns of the table audit_event (alias `e`) from which `rowOf` creates a row. */
export const rowColumns = `e.id, ${isoOf("e.at")} as at, e.actor, e.actor_key_id, e.actor_name,
  e.action, e.entity_type, e.entity_id, e.business_id, e.before::text as before, e.after::text as after, e.reason, e.request_id, e.address`;

/**
 * Converts the columns of `rowColumns` to a row.
 * @param {Record<string, unknown>} columns @returns {Row}
 */
export function rowOf({ entity_type, entity_id, id, at, actor, action, request_id, address, ...optional }) {
  const names = ["actor_key_id", "actor_name", "business_id", "before", "after", "reason"];
  const members = names.flatMap((name) => {
    const value = optional[name];
    if (value === null || value === undefined) return [];
    return [[name, name === "before" || name === "after" ? parseJson(String(value)) : value]];
  });
  const entity = { type: entity_type, id: entity_id };
  return { id: String(id), at, actor, action, entity, request_id, address, ...Object.fromEntries(members) };
}

/**
 * Types of entities whose audit rows identity inserts itself. Other services send audit rows as
 * events, which can arrive late.
 */
const entitiesOfIdentity = new Set(["business", "api_key", "admin_key", "invitation"]);
const dayMs = 86_400_000;
const lateMsMax = { own: 10 * 60_000, byEvent: dayMs };
/**
 * Maximum time by which the clock of the service that acted may be ahead of the clock of the
 * process that seals the row.
 */
const earlyMsMax = 10 * 60_000;

/**
 * Reports a row whose own time does not fit the time of its sealing. The service that acted sets
 * the row's own time. The row was sealed between `from` and `until` (milliseconds). A row was
 * sealed too early if it was sealed more than 10 minutes before its own time. A row was sealed too
 * late if it was sealed more than 10 minutes after its own time. For actions that services other
 * than identity record, this limit is a day.
 * @param {Row} row @param {{ day: string, number: number, from: number, until: number, report:
 * (finding: Finding) => void }} sealed
 */
export function checkTime(row, { day, number, from, until, report }) {
  const at = Date.parse(String(row["at"]));
  const { type } = /** @type {{ type?: string }} */ (row["entity"] ?? {});
  const [late, bound] = entitiesOfIdentity.has(type ?? "") ? [lateMsMax.own, "10 minutes"] : [lateMsMax.byEvent, "a day"];
  const what = `row ${row.id} (audit chain entry ${number} of ${day}) has the time ${row["at"]}`;
  const place = { day, number, id: row.id };
  // An unreadable time is NaN. The negated comparison with NaN is true and reports the row.
  if (!(from - at <= late))
    report({
      problem: "row_sealed_late",
      ...place,
      detail: `${what} and was sealed more than ${bound} after that time: the row was added later, or its sealing was delayed`,
    });
  else if (!(at - until <= earlyMsMax))
    report({ problem: "row_sealed_early", ...place, detail: `${what} and was sealed more than 10 minutes before that time` });
}

/** Yields the days from `from` to `to`, both included. @param {string} from @param {string} to */
export function* daysBetween(from, to) {
  for (let ms = Date.parse(from); ms <= Date.parse(to); ms += 86_400_000) yield new Date(ms).toISOString().slice(0, 10);
}

/**
 * Checks a day. Call `add` with the day's links in order, and then `end`. `previous` is the hash of
 * the previous day's final head. When `previous` is undefined, the check uses the previous hash in
 * the heads of this day. `kept` contains heads of this day that were stored elsewhere. `end`
 * returns the `previous` of the next day, or undefined when this day has no final head.
 * @param {{ day: string, previous: string | undefined, heads: readonly Head[], trusted: ReadonlySet<string> | undefined,
 *   kept?: readonly Head[], report: (finding: Finding) => void }} options
 */
export function checkDay({ day, previous, heads, trusted, kept = [], report }) {
  const startHash = previous ?? heads[0]?.previous ?? genesis;
  /** @typedef {"kept_head_not_in_chain" | "head_not_in_chain"} Mismatch */
  /** @type {Map<number, { hash: string, description: string, mismatch: Mismatch }[]>} */
  const expected = new Map();
  /** @param {Head} head @param {string} description @param {Mismatch} mismatch */
  const expect = (head, description, mismatch) => {
    expected.set(head.links, [...(expected.get(head.links) ?? []), { hash: head.hash, description, mismatch }]);
  };
  for (const head of heads) {
    const what = `the ${head.final ? "final head" : "head"} of ${day} (${head.links} entries)`;
    if (!isSigned(head)) report({ problem: "head_not_signed", day, detail: `${what} was altered, or is not signed` });
    else if (trusted && !trusted.has(head.public_key))
      report({
        problem: "head_of_unknown_key",
        day,
        detail: `${what} is signed with the key ${head.public_key}, which is not trusted`,
      });
    if (head.previous !== startHash)
      report({ problem: "head_of_other_chain", day, detail: `${what} does not continue the previous day's audit chain` });
    expect(head, what, "head_not_in_chain");
  }
  for (const head of kept) {
    const what = `the separately stored head of ${day} (${head.links} entries)`;
    if (!isSigned(head)) report({ problem: "kept_head_not_signed", day, detail: `${what} was altered, or is not signed` });
    if (head.previous !== startHash)
      report({ problem: "kept_head_not_in_chain", day, detail: `${what} does not continue the previous day's audit chain` });
    expect(head, what, "kept_head_not_in_chain");
  }
  let number = 0;
  let hash = startHash;
  const compareHeads = () => {
    for (const { hash: signedHash, description, mismatch } of expected.get(number) ?? []) {
      if (signedHash !== hash)
        report({
          problem: mismatch,
          day,
          number,
          detail: `${description} does not match the hash of the audit chain entries`,
        });
    }
    expected.delete(number);
  };
  compareHeads();
  return {
    /** @param {Link} link */
    add(link) {
      if (link.number !== number + 1)
        report({
          problem: "links_missing",
          day,
          number: number + 1,
          detail: `audit chain entries of ${day} are missing or out of order: entry ${link.number} follows entry ${number}`,
        });
      number = link.number;
      const expectedHash = linkHash(hash, link.leaf);
      if (link.hash !== undefined && link.hash !== expectedHash)
        report({
          problem: "link_broken",
          day,
          number,
          detail: `audit chain entry ${number} of ${day} does not match the previous entry's hash: entries were altered, removed or reordered`,
        });
      hash = link.hash ?? expectedHash;
      compareHeads();
    },
    /** @returns {string | undefined} */
    end() {
      for (const [links, [head]] of expected)
        report({
          problem: "links_missing",
          day,
          number: links,
          detail: `${head?.description} covers more than the ${number} audit chain entries that exist`,
        });
      const covered = heads.reduce((most, { links }) => Math.max(most, links), 0);
      if (number > covered)
        report({
          problem: "head_missing",
          day,
          number,
          detail: `signed heads cover only ${covered} of the ${number} audit chain entries of ${day}`,
        });
      const final = heads.find((head) => head.final);
      if (final && final.links < number)
        report({
          problem: "links_added",
          day,
          number,
          detail: `${day} has ${number} audit chain entries, but the day's final head covers only ${final.links} entries`,
        });
      return final && headHash(final);
    },
  };
}

/**
 * Maximum length of a line. Rows have a few thousand characters, but a forged bundle may have more.
 */
const lineMax = 2 ** 24;

/**
 * Yields the text and the value of each line of a JSON Lines file. Only a line feed ends a line,
 * because a JSON text may contain other line separators.
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

const requiredFiles = ["manifest.json", "trail.jsonl", "links.jsonl", "heads.jsonl"];

/**
 * Checks the evidence bundle in a folder. Needs no other data.
 * - The files must match the manifest.
 * - The last row of the trail must record the creation of the bundle with this manifest.
 * - The business's rows must match each other and the links.
 * - The links must match heads that are signed with a trusted key.
 * @param {string} folder
 * @param {{ trusted: ReadonlySet<string>, kept?: readonly Head[], report: (finding: Finding) => void }} options
 */
export async function verifyBundle(folder, { trusted, kept = [], report }) {
  try {
    return await checkBundle(folder, { trusted, kept, report });
  } catch (error) {
    // A folder that is not a bundle may cause any error.
    report({ problem: "unreadable", detail: `the bundle cannot be read: ${error instanceof Error ? error.message : error}` });
    return undefined;
  }
}

/**
 * @param {string} folder @param {{ trusted: ReadonlySet<string>, kept: readonly Head[], report:
 * (finding: Finding) => void }} options
 */
async function checkBundle(folder, { trusted, kept, report }) {
  const missing = requiredFiles.filter((name) => !existsSync(join(folder, name)));
  for (const file of missing) report({ problem: "file_missing", file, detail: `${file} is missing` });
  if (missing.length > 0) return undefined;
  const text = readFileSync(join(folder, "manifest.json"));
  const manifest = JSON.parse(text.toString());
  for (const file of readdirSync(folder)) {
    if (!requiredFiles.includes(file) && !Object.hasOwn(manifest.files, file))
      report({ problem: "file_unknown", file, detail: `${file} is not in the manifest` });
  }
  for (const [file, listed] of Object.entries(manifest.files)) {
    if (file !== basename(file) || !existsSync(join(folder, file))) {
      report({ problem: "file_missing", file, detail: `${file} is missing` });
      continue;
    }
    const { sha256: digest, rows } = await digestOf(join(folder, file));
    if (digest !== listed.sha256)
      report({
        problem: "file_changed",
        file,
        detail: `${file} does not match its digest in the manifest: it has ${rows} lines, and the manifest lists ${listed.rows} lines`,
      });
  }

  const trail = await readTrail(folder, manifest, createHash("sha256").update(text).digest("hex"), report);
  await checkLinks(folder, manifest.from, { trail, trusted, kept, report });
  return manifest;
}

/**
 * Reads and checks the business's rows. Returns each row and its leaf by its place in the chain.
 * @param {string} folder @param {any} manifest @param {string} manifestHash @param {(finding:
 * Finding) => void} report
 */
async function readTrail(folder, manifest, manifestHash, report) {
  /** @type {Map<string, { leaf: string, id: string, row: Row }>} */
  const places = new Map();
  /** @type {SealedRow | undefined} */
  let before;
  let leaf = "";
  let isManifestRecorded = false;
  for await (const { text, value } of linesOf(join(folder, "trail.jsonl"))) {
    /** @type {SealedRow} */
    const row = value;
    const { day, number, business_number = 0, business_previous } = row.sealed;
    const place = { day, number: business_number, id: row.id };
    // Rejects text that other programs may parse differently. For example, the text may have
    // two members with the same name.
    if (JSON.stringify(row) !== text)
      report({ problem: "row_changed", ...place, detail: `the JSON text of row ${row.id} was changed` });
    if (row.business_id !== manifest.business_id)
      report({ problem: "row_of_another", ...place, detail: `row ${row.id} does not belong to the business of the bundle` });
    if (before && business_number !== (before.sealed.business_number ?? 0) + 1)
      report({
        problem: "row_missing",
        ...place,
        detail: `rows are missing before row ${row.id}, which is row number ${business_number} of the business`,
      });
    else if (before && business_previous !== leaf)
      report({
        problem: "row_changed",
        ...place,
        id: before.id,
        detail: `row ${before.id} was changed: row ${row.id}, the next row of the business, contains a different hash`,
      });
    if (!before && business_number !== 1 && day >= manifest.from)
      report({ problem: "row_missing", ...place, detail: `the rows of the business before row ${row.id} are missing` });
    leaf = leafOf(row);
    if (day >= manifest.from) places.set(`${day}/${number}`, { leaf, id: row.id, row: timeOf(row) });
    const after = /** @type {Record<string, unknown> | undefined} */ (row["after"]);
    isManifestRecorded =
      row["action"] === "evidence_bundle.created" &&
      after?.["manifest_sha256"] === manifestHash &&
      after["from"] === manifest.from &&
      after["to"] === manifest.to &&
      isDay(manifest.from);
    before = row;
  }
  // The last row records the manifest. It must be in the chain, even if its day is after the period
  // of the bundle.
  if (before) places.set(`${before.sealed.day}/${before.sealed.number}`, { leaf, id: before.id, row: timeOf(before) });
  if (!isManifestRecorded)
    report({
      problem: "manifest_not_vouched",
      file: "manifest.json",
      detail: "the last row of trail.jsonl does not record the creation of a bundle with this manifest",
    });
  return places;
}

/** Returns the members that `checkTime` reads. @param {Row} row @returns {Row} */
const timeOf = ({ id, at, entity }) => ({ id, at, entity });

/**
 * @param {string} folder @param {string} from @param {{ trail: Map<string, { leaf: string, id:
 * string, row: Row }>, trusted: ReadonlySet<string>, kept: readonly Head[], report: (finding:
 * Finding) => void }} options
 */
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
    const headsOfDay = heads.get(day) ?? [];
    const keptOfDay = kept.filter((head) => head.day === day);
    const dayCheck = checkDay({ day, previous, heads: headsOfDay, trusted, kept: keptOfDay, report });
    const hasLinks = next?.day === day;
    for (; next?.day === day; next = (await links.next()).value?.value) {
      const row = trail.get(`${day}/${next.number}`);
      if (row && row.leaf !== next.leaf)
        report({
          problem: "row_changed",
          day,
          number: next.number,
          id: row.id,
          detail: `row ${row.id} (audit chain entry ${next.number} of ${day}) was changed`,
        });
      // A bundle does not contain the head of each batch, so this check has only the day on which a
      // row was sealed. A wrong clock can shift that day by one. Rows of the chain's first day are
      // not checked, because they may be older than the chain.
      const startMs = Date.parse(day);
      if (row && headsOfDay[0]?.previous !== genesis)
        checkTime(row.row, { day, number: next.number, from: startMs - dayMs, until: startMs + 2 * dayMs, report });
      trail.delete(`${day}/${next.number}`);
      dayCheck.add({ number: next.number, leaf: next.leaf });
    }
    if (hasLinks) dayCheck.end();
    const final = headsOfDay.find((head) => head.final);
    if (!hasLinks && final && keptOfDay.some((head) => head.final && head.hash !== final.hash))
      report({
        problem: "kept_head_not_in_chain",
        day,
        detail: `the final head of ${day} differs from the separately stored final head`,
      });
    previous = final && headHash(final);
    if (!final && day !== last) report({ problem: "head_missing", day, detail: `${day} has no final head` });
  }
  if (next)
    report({ problem: "head_missing", day: next.day, detail: `no signed head covers the audit chain entries of ${next.day}` });
  for (const [place, { id }] of trail)
    report({ problem: "row_not_in_chain", id, detail: `row ${id} has no audit chain entry at ${place} (day and number)` });
}

/**
 * Reads heads from a file. A line is the JSON of a head, or a log line of identity that contains a
 * head. Ignores other lines.
 * @param {string} file @returns {Head[]}
 */
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

/**
 * Returns a set of trusted public keys. Accepts the format of make-caller-key (`id:base64`) and the
 * format of keys in heads (base64).
 * @param {readonly string[]} keys
 */
export const trustedKeys = (keys) => new Set(keys.map((key) => key.slice(key.indexOf(":") + 1)));

// Use as a program: node audit-chain.mjs <folder> --public-key <key> [--head <file>]
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
      "Usage: node audit-chain.mjs <folder> --public-key <key> [--public-key <former key>] [--head <file with separately stored heads>]\n",
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
  process.stdout.write(problems === 0 ? "No problems found.\n" : `${problems} problems found.\n`);
  process.exitCode = problems === 0 ? 0 : 4;
}
