import { existsSync } from "node:fs";
import { type Finding, type Head, readHeads, trustedKeys, verifyBundle } from "@amana/audit-chain";
import type { Command } from "commander";
import { auditList } from "../../api/commands/audit-list.ts";
import { CommandError, exitCodes } from "../../command-error.ts";
import {
  type ChangeOptions,
  type CommonOptions,
  databaseHelp,
  jsonHelp,
  withActorOption,
  withCommonOptions,
} from "../../options.ts";
import { parseDay, parseUuid } from "../../parsers.ts";
import { jsonText, print, printable } from "../../print.ts";
import { makeBundle } from "../audit/make-bundle.ts";
import { verifyTrail } from "../audit/verify-trail.ts";
import { auditActor } from "../audit-actor.ts";
import { withServices } from "../services.ts";

interface VerifyFlags extends CommonOptions {
  readonly from?: string;
  readonly to?: string;
  readonly publicKey?: string[];
  readonly head?: string;
}

const findingsShownMax = 1_000;
const progressEveryMs = 5_000;

export function audit(program: Command): void {
  const group = program
    .command("audit")
    .description("list audited actions, verify the trail, export evidence bundles (docs/audit.md)");
  withCommonOptions(
    group
      .command("verify")
      .description(
        "find audit rows and chain entries that were changed, deleted, added or reordered, and heads with an untrusted key",
      ),
    "audit verify --public-key MCowBQYDK2VwAyEA… --head heads.jsonl",
  )
    .option("--from <day>", "first day in UTC, for example 2026-11-20 (default: first day of the trail)", parseDay)
    .option("--to <day>", "last day in UTC (default: last day of the trail)", parseDay)
    .option(
      "--public-key <key...>",
      "trusted keys: the public keys of the present and former AUDIT_SIGNING_KEY (default: any key)",
    )
    .option("--head <file>", "separately stored heads, one JSON object on each line, for example identity's log")
    .action(verify);
  withActorOption(
    group
      .command("bundle")
      .description("write an evidence bundle into a folder: a business's data and audit rows of a period; the export is audited")
      .option("--json", jsonHelp)
      .addHelpText("after", databaseHelp("audit bundle --business 0199… --from 2026-11-01 --to 2026-11-30 --out bundle")),
  )
    .requiredOption("--business <id>", "business whose data and audit rows are exported", parseUuid)
    .requiredOption("--from <day>", "first day in UTC, for example 2026-11-01", parseDay)
    .requiredOption("--to <day>", "last day in UTC", parseDay)
    .requiredOption("--out <folder>", "folder to create; it must not exist")
    .action(bundle);
  auditList(group);
  group
    .command("verify-bundle <folder>")
    .description("find changed or missing rows in an evidence bundle")
    .requiredOption("--public-key <key...>", "trusted keys: the public keys of the present and former AUDIT_SIGNING_KEY")
    .option("--head <file>", "separately stored heads, one JSON object on each line")
    .option("--json", jsonHelp)
    .addHelpText("after", "\nReads only files.\n\nExample:\n  amana audit verify-bundle bundle --public-key MCowBQYDK2VwAyEA…")
    .action(verifyFolder);
}

async function verify({ service = "identity", databaseUrl, json, from, to, publicKey, head }: VerifyFlags): Promise<void> {
  if (service !== "identity")
    throw new CommandError("The audit trail is in the database of identity. Use --service identity or omit it.", exitCodes.usage);
  const findings: Finding[] = [];
  let count = 0;
  const report = (finding: Finding) => {
    if (++count > findingsShownMax) return;
    findings.push(finding);
    if (!json) print(`${finding.problem}: ${printable(finding.detail)}`);
  };
  let reportedAt = Date.now();
  const progress = (day: string, rows: number) => {
    if (Date.now() - reportedAt < progressEveryMs) return;
    reportedAt = Date.now();
    process.stderr.write(`${day}: ${rows} rows checked\n`);
  };
  const options = {
    from,
    to,
    trustedKeys: publicKey && trustedKeys(publicKey),
    keptHeads: readKeptHeads(head),
    report,
    progress,
  };
  const result = await withServices({ service, databaseUrl }, ([database]) => verifyTrail(database.orm, options));
  if (count > 0) process.exitCode = exitCodes.actionNeeded;
  if (json) {
    print(jsonText({ ...result, problems: count, findings }));
    return;
  }
  const { days, rows, keys, newest } = result;
  const heads = newest ? `newest head of ${newest.day} (${newest.links} entries, hash ${newest.hash})` : "no head";
  print(`${count === 0 ? "No problems found" : `${count} problems found`}: ${days} days, ${rows} rows, ${heads}.`);
  if (!head) {
    print(
      "The command did not check whether the whole chain was rewritten or shortened. For this check, pass separately stored heads with --head.",
    );
  }
  for (const key of publicKey ? [] : keys)
    print(`Signed with ${key}. Compare it with the key of identity, or pass trusted keys with --public-key.`);
}

function readKeptHeads(file: string | undefined): Head[] {
  if (file === undefined) return [];
  const heads = readHeads(file);
  if (heads.length === 0)
    throw new CommandError(
      `${file} contains no head. Each line must be a head, or a log line with audit_head, as JSON.`,
      exitCodes.usage,
    );
  return heads;
}

interface BundleFlags extends ChangeOptions {
  readonly business: string;
  readonly from: string;
  readonly to: string;
  readonly out: string;
}

async function bundle({ business, from, to, out, as, json }: BundleFlags): Promise<void> {
  if (to < from) throw new CommandError("--to is before --from. Choose a later --to.", exitCodes.usage);
  if (existsSync(out)) throw new CommandError(`The folder ${out} exists. Choose another folder with --out.`, exitCodes.usage);
  const options = { businessId: business, from, to, out, by: auditActor(as) };
  const manifest_sha256 = await withServices({ usableServices: ["identity", "payments", "webhooks"] }, (databases) =>
    makeBundle(databases, options),
  );
  print(json ? jsonText({ out, manifest_sha256 }) : `Created the bundle ${out}. SHA-256 of its manifest: ${manifest_sha256}`);
}

async function verifyFolder(folder: string, { publicKey, head, json }: { publicKey: string[]; head?: string; json?: boolean }) {
  const findings: Finding[] = [];
  const report = (finding: Finding) => void findings.push(finding);
  const manifest = await verifyBundle(folder, { trusted: trustedKeys(publicKey), kept: readKeptHeads(head), report });
  if (findings.length > 0) process.exitCode = exitCodes.actionNeeded;
  if (json) return print(jsonText({ manifest, problems: findings.length, findings }));
  for (const { problem, detail } of findings) print(`${problem}: ${printable(detail)}`);
  print(findings.length === 0 ? "No problems found." : `${findings.length} problems found.`);
}
