import { aBusiness, startTestSystem } from "@amana/e2e/test-system";
import type { Attempt, Program } from "../program.ts";
import { createRandom } from "../random.ts";
import { someAnswer, someTerms } from "./random-answer.ts";
import { followOne } from "./through-the-system.ts";
import { compare, dayOf, tryTheTable } from "./truth-table.ts";

/** Answers read and judged without a system for each batch of applications that go through one. */
const answersPerBatch = 20_000;
const applicationsPerBatch = 24;
const violationsMax = 50;

/**
 * The rules of verdicts, written a second time from the specification's text (`specified.ts`): over
 * every value of every field with every other, over random answers of a provider that is new,
 * broken or hostile, and through the running system, where the API, the webhooks and what a person
 * decides are compared.
 */
export const verdicts: Program = {
  attacks: "P8, P9: an approval without evidence, a reason that vanishes, a word of the provider's that gets through",
  run,
};

async function run({ seed, signal, report, say }: Attempt): Promise<void> {
  const random = createRandom(seed);
  tryTheTable(report, Date.now());
  say("the whole table was compared");
  await using running = await startTestSystem("direct");
  const business = await aBusiness(running.system);
  await using _receiver = business.receiver;
  do {
    const nowMs = Date.now();
    for (let i = 0; i < answersPerBatch && report.violations.length < violationsMax; i++) {
      const asked = someTerms(random);
      report.count(`random answers: ${compare(report, someAnswer(random, asked, nowMs), asked, dayOf(nowMs))}`);
    }
    const batch = Array.from({ length: applicationsPerBatch }, () => random.fork());
    await Promise.all(batch.map((chances) => followOne({ running, business, report }, chances)));
    say(`${report.counted("checked: verdict in API and webhook")} applications, ${report.violations.length} violations`);
  } while (!signal.aborted && report.violations.length < violationsMax);
  report.check("webhooks are signed", business.receiver.refused.length === 0, () => business.receiver.refused.join("; "));
}
