import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Finding, type Head, headColumns, verifyBundle } from "@amana/audit-chain";
import { eventually } from "@amana/dev-env/eventually";
import type { System } from "@amana/dev-env/system";
import { execAmana } from "@amana/e2e/run-amana";
import { aBusiness, aPaidPayment, startTestSystem, type TestBusiness } from "@amana/e2e/test-system";
import pg from "pg";
import type { Program } from "../program.ts";
import { createRandom, type Random } from "../random.ts";
import { tamperWithBundle } from "./tamper-with-bundle.ts";
import { insertThroughTrigger, readTriggerStates, tamperWithTrail } from "./tamper-with-trail.ts";

const trailChangesPerRound = 6;
const bundleChangesPerRound = 20;

/**
 * Sends requests of two businesses and kills identity during the requests. The unmodified audit
 * trail must then pass verification. Then the program tampers with the trail as the owner of the
 * database, and with copies of evidence bundles. The verification must report each change.
 */
export const auditProgram: Program = {
  summary: "P12: tamper with the audit trail as the database owner and with evidence bundles; each change is reported",
  async run({ seed, signal, report, log }) {
    const random = createRandom(seed);
    await using test = await startTestSystem("direct");
    const { system } = test;
    await using stack = new AsyncDisposableStack();
    const dir = mkdtempSync(join(tmpdir(), "amana-audit-"));
    stack.defer(() => rmSync(dir, { recursive: true }));
    const owner = new pg.Client({ connectionString: system.ownerDatabaseUrls["identity"] });
    await owner.connect();
    stack.defer(() => owner.end());
    const businesses: TestBusiness[] = [];
    for (let i = 0; i < 2; i++) businesses.push(await aBusiness(system));
    stack.defer(async () => void (await Promise.all(businesses.map(({ receiver }) => receiver[Symbol.asyncDispose]()))));
    for (const business of businesses) await aPaidPayment(system, business);

    const urls = Object.entries(system.ownerDatabaseUrls).map(([name, url]) => [`${name.toUpperCase()}_DATABASE_URL`, url]);
    const command = (...args: string[]) => execAmana(Object.fromEntries(urls), "audit", ...args);
    const headsFile = join(dir, "heads");
    const verify = async (): Promise<string[]> => {
      const { out, err } = await command("verify", "--json", "--head", headsFile);
      if (out === "") throw new Error(err);
      return (JSON.parse(out) as { findings: Finding[] }).findings.map(({ problem }) => problem);
    };
    const checkTrail = async (claim: string) => {
      const problems = await verify();
      report.check(claim, problems.length === 0, () => problems.join(", "));
    };
    const originalTriggers = JSON.stringify(await readTriggerStates(owner));
    let round = 0;
    do {
      await performActions(system, businesses, random);
      const bundleHeads = await readSealedHeads(owner);
      const bundles = await Promise.all(
        businesses.map((business, i) => makeBundle(business, join(dir, `${round}-${i}`), command)),
      );

      // Stores the heads after the bundles were made, because each bundle adds an audit row. The
      // verification cannot detect all changes to rows that are newer than the newest stored head.
      const heads = await readSealedHeads(owner);
      writeFileSync(headsFile, heads.map((head) => `${JSON.stringify(head)}\n`).join(""));
      // Identity must not seal rows while the trail is changed.
      await system.services.identity.stop();
      await checkTrail("an unmodified trail passes verification");
      for (let i = 0; i < trailChangesPerRound && !(i > 0 && signal.aborted); i++) {
        const { change, expectedProblem, problems } = await tamperWithTrail(owner, random, verify);
        report.count(`trail: ${change}`);
        report.check(
          "a change to the trail is reported as the expected problem",
          problems.includes(expectedProblem),
          () => `${change}: ${problems.join() || "no problem found"}`,
        );
      }
      await checkTrail("a restored trail passes verification");
      await system.services.identity.start();

      const trusted = new Set(heads.map(({ public_key }) => public_key));
      const findProblems = async (folder: string) => {
        const findings: Finding[] = [];
        try {
          await verifyBundle(folder, { trusted, kept: bundleHeads, report: (finding) => findings.push(finding) });
        } catch (error) {
          return [`the bundle could not be read: ${(error as Error).message}`];
        }
        return findings.map(({ detail }) => detail);
      };
      for (const bundle of bundles) {
        const problems = await findProblems(bundle);
        report.check("an unmodified bundle passes verification", problems.length === 0, () => problems.join("; "));
      }
      for (let i = 0; i < bundleChangesPerRound; i++) {
        const [bundle = "", otherBundle = ""] = random.chance(0.5) ? bundles : bundles.toReversed();
        const change = tamperWithBundle(bundle, join(dir, "tampered"), random, otherBundle);
        const problems = await findProblems(join(dir, "tampered"));
        report.count(`bundle: ${change.replace(/^one byte of .*/, "one byte changed")}`);
        report.check("a changed bundle is rejected", problems.length > 0, () => change);
      }
      log(`round ${++round}, ${heads.length} heads`);
    } while (!signal.aborted);
    const finalTriggers = JSON.stringify(await readTriggerStates(owner));
    report.check(
      "the triggers of the audit tables have their original state",
      finalTriggers === originalTriggers,
      () => finalTriggers,
    );
    await insertThroughTrigger(owner, random);
    await readSealedHeads(owner);
    const problems = await verify();
    const isReported = problems.join() === "row_sealed_early";
    report.check(
      "a row inserted through the trigger with a future date is reported",
      isReported,
      () => problems.join() || "no problem found",
    );
  },
};

/** Waits until identity has sealed all rows. Returns all heads. */
async function readSealedHeads(owner: pg.Client): Promise<Head[]> {
  await eventually(async () => {
    const { rowCount } = await owner.query("select 1 from audit_unsealed limit 1");
    if (rowCount) throw new Error("some audit rows are not sealed yet");
  }, 60_000);
  return (await owner.query<Head>(`select ${headColumns} from audit_head order by day, links, final`)).rows;
}

/** Sends random requests in parallel. With a probability of one half, also kills identity. */
async function performActions(system: System, businesses: readonly TestBusiness[], random: Random): Promise<void> {
  const killsIdentity = random.chance(0.5);
  const killing = killsIdentity ? killIdentityAfter(system, random.integer(20, 400)) : undefined;
  const actions = Array.from({ length: random.integer(10, 40) }, async (_, i) => {
    const { amana } = random.pick(businesses);
    try {
      if (i % 5 === 0) await amana.me.update({ name: `Shop ${random.integer(1, 1_000)}` });
      else {
        const { id } = await amana.me.createApiKey({ name: `key ${random.integer(1, 1e9)}` });
        await amana.me.revokeApiKey(id, { reason: "created to be revoked" });
      }
    } catch {
      // A request fails if identity is down or if the business already has twenty keys.
    }
  });
  await Promise.all([...actions, killing]);
}

async function killIdentityAfter(system: System, ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  await system.services.identity.kill();
  await system.services.identity.start();
}

async function makeBundle(
  { id }: TestBusiness,
  to: string,
  command: (...args: string[]) => Promise<{ code: number; err: string }>,
): Promise<string> {
  const today = new Date().toISOString().slice(0, 10);
  const { code, err } = await command(
    "bundle",
    "--business",
    id,
    "--from",
    today,
    "--to",
    today,
    "--out",
    to,
    "--as",
    "an auditor",
  );
  if (code !== 0) throw new Error(err);
  return to;
}
