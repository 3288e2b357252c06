import { readFileSync } from "node:fs";
import type { Finding, Head } from "@amana/audit-chain";
import { type Command, InvalidArgumentError } from "commander";
import { verifyTrail } from "../audit/verify-trail.ts";
import { type CommonOptions, withCommonOptions } from "../options.ts";
import { jsonText, printable } from "../print.ts";
import { exitCodes, Refused } from "../refused.ts";
import { withServices } from "../services.ts";

interface VerifyFlags extends CommonOptions {
  readonly from?: string;
  readonly to?: string;
  readonly publicKey?: string[];
  readonly head?: string;
}

const findingsShownMax = 1_000;
const tellEveryMs = 5_000;

/** The audit trail: that nobody has bent it. */
export function audit(program: Command): void {
  const noun = program.command("audit").description("the audit trail: proves that nobody has bent it (docs/audit.md)");
  withCommonOptions(
    noun
      .command("verify")
      .description("finds rows and links that were changed, deleted, added or reordered, and heads that nobody trusts"),
    "audit verify --public-key MCowBQYDK2VwAyEA… --head heads.jsonl",
  )
    .option("--from <day>", "the first day, as 2026-11-20 in UTC", aDay)
    .option("--to <day>", "the last day", aDay)
    .option("--public-key <key...>", "who may have signed the heads: the public halves of AUDIT_SIGNING_KEY, former ones too")
    .option("--head <file>", "heads that were kept elsewhere, one as JSON in each line; identity's log will do")
    .action(verify);
}

export function aDay(text: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new InvalidArgumentError("It must be a day, as 2026-11-20.");
}

async function verify({ service = "identity", databaseUrl, json, from, to, publicKey, head }: VerifyFlags): Promise<void> {
  if (service !== "identity") throw new Refused("The audit trail is identity's.", exitCodes.usage);
  const findings: Finding[] = [];
  let count = 0;
  const report = (finding: Finding) => {
    if (++count > findingsShownMax) return;
    findings.push(finding);
    if (!json) process.stdout.write(`${finding.problem}: ${printable(finding.detail)}\n`);
  };
  let toldAt = Date.now();
  const progress = (day: string, rows: number) => {
    if (Date.now() - toldAt < tellEveryMs) return;
    toldAt = Date.now();
    process.stderr.write(`${day}: ${rows} rows so far\n`);
  };
  const options = { from, to, trusted: trustedKeys(publicKey), kept: head ? readHeads(head) : [], report, progress };
  const verified = await withServices(
    { service, databaseUrl },
    async ([opened]) => opened && (await verifyTrail(opened.orm, options)),
  );
  if (count > 0) process.exitCode = exitCodes.found;
  if (json) {
    process.stdout.write(`${jsonText({ ...verified, problems: count, findings })}\n`);
    return;
  }
  const { days = 0, rows = 0, keys = [], newest } = verified ?? {};
  const heads = newest ? `up to ${newest.day}, link ${newest.links}, ${newest.hash}` : "without a head";
  process.stdout.write(`${count === 0 ? "Nothing is wrong" : `${count} problems`}: ${days} days, ${rows} rows, ${heads}.\n`);
  for (const key of publicKey ? [] : keys)
    process.stdout.write(`Signed with ${key}: compare it, or name it with --public-key.\n`);
}

/** As make-caller-key prints one, or as a head names it. */
export const trustedKeys = (given: readonly string[] | undefined) =>
  given && new Set(given.map((key) => key.slice(key.indexOf(":") + 1)));

function readHeads(file: string): Head[] {
  const heads = readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        const value = JSON.parse(line) as { audit_head?: Head } & Partial<Head>;
        const head = value.audit_head ?? value;
        return head.signature && head.day ? [head as Head] : [];
      } catch {
        return [];
      }
    });
  if (heads.length === 0) throw new Refused(`${file} has no head in any of its lines.`, exitCodes.usage);
  return heads;
}
