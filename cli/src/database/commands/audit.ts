import { existsSync } from "node:fs";
import { type Finding, type Head, readHeads, trustedKeys, verifyBundle } from "@amana/audit-chain";
import { type Command, InvalidArgumentError } from "commander";
import { auditList } from "../../api/commands/audit-list.ts";
import { type ChangeOptions, type CommonOptions, databaseHelp, withAs, withCommonOptions } from "../../options.ts";
import { jsonText, printable } from "../../print.ts";
import { exitCodes, Refused } from "../../refused.ts";
import { byPerson, requireUuid } from "../as.ts";
import { makeBundle } from "../audit/make-bundle.ts";
import { verifyTrail } from "../audit/verify-trail.ts";
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
  withAs(
    noun
      .command("bundle")
      .description("writes what there is of one business and a period into a folder that anybody can verify; audited itself")
      .option("--json", "for programs")
      .addHelpText("after", databaseHelp("audit bundle --business 0199… --from 2026-11-01 --to 2026-11-30 --out bundle")),
  )
    .requiredOption("--business <id>", "whose")
    .requiredOption("--from <day>", "the first day, as 2026-11-01 in UTC", aDay)
    .requiredOption("--to <day>", "the last day", aDay)
    .requiredOption("--out <folder>", "one that is not there yet")
    .action(bundle);
  auditList(noun);
  noun
    .command("verify-bundle <folder>")
    .description("finds what was changed in a bundle or left out of it")
    .requiredOption("--public-key <key...>", "who may have signed the heads")
    .option("--head <file>", "heads that were kept elsewhere")
    .option("--json", "for programs")
    .addHelpText("after", "\nGoes at files alone.\n\nExample:\n  amana audit verify-bundle bundle --public-key MCowBQYDK2VwAyEA…")
    .action(verifyOne);
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
  const options = { from, to, trusted: publicKey && trustedKeys(publicKey), kept: keptHeads(head), report, progress };
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
  if (!head) {
    const unproved = "that nobody made the chain anew or cut off its end: that takes heads that were kept elsewhere, with --head";
    process.stdout.write(`Not proved: ${unproved}.\n`);
  }
  for (const key of publicKey ? [] : keys)
    process.stdout.write(`Signed with ${key}: compare it, or name it with --public-key.\n`);
}

function keptHeads(file: string | undefined): Head[] {
  if (file === undefined) return [];
  const heads = readHeads(file);
  if (heads.length === 0) throw new Refused(`${file} has no head in any of its lines.`, exitCodes.usage);
  return heads;
}

interface BundleFlags extends ChangeOptions {
  readonly business: string;
  readonly from: string;
  readonly to: string;
  readonly out: string;
}

async function bundle({ business, from, to, out, as, json }: BundleFlags): Promise<void> {
  if (to < from) throw new Refused("--to is before --from.", exitCodes.usage);
  if (existsSync(out)) throw new Refused(`${out} is there already: name a folder that is not.`, exitCodes.usage);
  const options = { businessId: requireUuid(business), from, to, out, by: byPerson(as) };
  const manifest_sha256 = await withServices({ needed: ["identity", "payments", "webhooks"] }, (opened) =>
    makeBundle(opened, options),
  );
  process.stdout.write(
    json ? `${jsonText({ out, manifest_sha256 })}\n` : `${out} is made; its manifest has the SHA-256 ${manifest_sha256}.\n`,
  );
}

async function verifyOne(folder: string, { publicKey, head, json }: { publicKey: string[]; head?: string; json?: boolean }) {
  const findings: Finding[] = [];
  const report = (finding: Finding) => void findings.push(finding);
  const manifest = await verifyBundle(folder, { trusted: trustedKeys(publicKey), kept: keptHeads(head), report });
  if (findings.length > 0) process.exitCode = exitCodes.found;
  if (json) process.stdout.write(`${jsonText({ manifest, problems: findings.length, findings })}\n`);
  else for (const { problem, detail } of findings) process.stdout.write(`${problem}: ${printable(detail)}\n`);
  if (!json) process.stdout.write(findings.length === 0 ? "Nothing is wrong.\n" : `${findings.length} problems.\n`);
}
