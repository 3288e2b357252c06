import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Finding, type Head, headColumns, verifyBundle } from "@amana/audit-chain";
import { eventually } from "@amana/dev-env/eventually";
import type { System } from "@amana/dev-env/system";
import { amanaWith } from "@amana/e2e/run-amana";
import { aBusiness, aPaidPayment, startTestSystem, type TestBusiness } from "@amana/e2e/test-system";
import pg from "pg";
import type { Program } from "../program.ts";
import { createRandom, type Random } from "../random.ts";
import { bendBundle } from "./bend-bundle.ts";
import { bendTrail, insertThroughTrigger, triggerStates } from "./bend-trail.ts";

const bendsOfTrail = 6;
const bendsOfBundle = 20;

/**
 * Businesses act while identity is killed, and what nobody bent is found right. Then the owner of
 * the database bends the trail, and whoever was handed a bundle bends that: each is to be named.
 */
export const audit: Program = {
  attacks: "P12: the audit trail bent by who owns the database, and evidence bundles by who has them",
  async run({ seed, signal, report, say }) {
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
    const command = (...args: string[]) => amanaWith(Object.fromEntries(urls), "audit", ...args);
    const keptFile = join(dir, "heads");
    const verify = async (): Promise<string[]> => {
      const { out, err } = await command("verify", "--json", "--head", keptFile);
      if (out === "") throw new Error(err);
      return (JSON.parse(out) as { findings: Finding[] }).findings.map(({ problem }) => problem);
    };
    const isRight = async (what: string) => {
      const found = await verify();
      report.check(what, found.length === 0, () => found.join(", "));
    };
    const triggers = JSON.stringify(await triggerStates(owner));
    let round = 0;
    do {
      await act(system, businesses, random);
      const bundleHeads = await sealedHeads(owner);
      const bundles = await Promise.all(
        businesses.map((business, i) => makeBundle(business, join(dir, `${round}-${i}`), command)),
      );

      // To make a bundle is a row as well; a row after the last head that was kept may go unseen.
      const heads = await sealedHeads(owner);
      writeFileSync(keptFile, heads.map((head) => `${JSON.stringify(head)}\n`).join(""));
      // Who bends the trail does it while nobody seals.
      await system.services.identity.stop();
      await isRight("a trail that nobody bent is right");
      for (let i = 0; i < bendsOfTrail && !(i > 0 && signal.aborted); i++) {
        const { name, names, found } = await bendTrail(owner, random, verify);
        report.count(`bent: ${name}`);
        report.check("a bent trail is named as what it is", found.includes(names), () => `${name}: ${found.join() || "nothing"}`);
      }
      await isRight("a trail that was put back is right");
      await system.services.identity.start();

      const trusted = new Set(heads.map(({ public_key }) => public_key));
      const problemsOf = async (folder: string) => {
        const found: Finding[] = [];
        try {
          await verifyBundle(folder, { trusted, kept: bundleHeads, report: (finding) => found.push(finding) });
        } catch (error) {
          return [`it could not be read: ${(error as Error).message}`];
        }
        return found.map(({ detail }) => detail);
      };
      for (const bundle of bundles) {
        const found = await problemsOf(bundle);
        report.check("a bundle that nobody bent is right", found.length === 0, () => found.join("; "));
      }
      for (let i = 0; i < bendsOfBundle; i++) {
        const [bundle = "", other = ""] = random.chance(0.5) ? bundles : bundles.toReversed();
        const what = bendBundle(bundle, join(dir, "bent"), random, other);
        const found = await problemsOf(join(dir, "bent"));
        report.count(`bent: ${what.replace(/^one byte of .*/, "one byte of a bundle")}`);
        report.check("a bent bundle is refused", found.length > 0, () => what);
      }
      say(`round ${++round}, ${heads.length} heads`);
    } while (!signal.aborted);
    const left = JSON.stringify(await triggerStates(owner));
    report.check("the triggers of the audit tables have their original state", left === triggers, () => left);
    await insertThroughTrigger(owner, random);
    await sealedHeads(owner);
    const found = await verify();
    const isNamed = found.join() === "row_sealed_early";
    report.check("a row inserted through the trigger with another date is named", isNamed, () => found.join() || "nothing");
  },
};

/** The heads once nothing waits to be sealed. */
async function sealedHeads(owner: pg.Client): Promise<Head[]> {
  await eventually(async () => {
    const { rowCount } = await owner.query("select 1 from audit_unsealed limit 1");
    if (rowCount) throw new Error("rows wait to be sealed");
  }, 60_000);
  return (await owner.query<Head>(`select ${headColumns} from audit_head order by day, links, final`)).rows;
}

/** Actions of all kinds side by side, now and then with identity killed among them. */
async function act(system: System, businesses: readonly TestBusiness[], random: Random): Promise<void> {
  const isKilled = random.chance(0.5);
  const killed = isKilled ? killSoon(system, random.integer(20, 400)) : undefined;
  const actions = Array.from({ length: random.integer(10, 40) }, async (_, i) => {
    const { amana } = random.pick(businesses);
    try {
      if (i % 5 === 0) await amana.me.update({ name: `Shop ${random.integer(1, 1_000)}` });
      else {
        const { id } = await amana.me.createApiKey({ name: `key ${random.integer(1, 1e9)}` });
        await amana.me.revokeApiKey(id, { reason: "made for this" });
      }
    } catch {
      // Identity is away, or a business has twenty keys: then there is no such action.
    }
  });
  await Promise.all([...actions, killed]);
}

async function killSoon(system: System, ms: number): Promise<void> {
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
