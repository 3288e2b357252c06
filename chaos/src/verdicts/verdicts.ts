import { aBusiness, startTestSystem } from "@amana/e2e/test-system";
import type { Program, ProgramRun } from "../program.ts";
import { createRandom } from "../random.ts";
import { checkApplication } from "./check-application.ts";
import { randomResponse, randomTerms } from "./random-response.ts";
import { checkTruthTable, compareVerdicts, formatDay } from "./truth-table.ts";

/** Number of responses that are evaluated without a system for each batch of applications. */
const responsesPerBatch = 20_000;
const applicationsPerBatch = 24;
const violationsMax = 50;

/**
 * Compares verdicts with a second implementation of the specification (`specified.ts`): for every
 * combination of field values, for random responses of a faulty provider, and for applications in a
 * running system, including the API, webhooks and decisions by a person.
 */
export const verdictsProgram: Program = {
  attacks:
    "P8, P9: return faulty provider responses; each verdict has its evidence and reasons, and no provider text is returned",
  run,
};

async function run({ seed, signal, report, log }: ProgramRun): Promise<void> {
  const random = createRandom(seed);
  checkTruthTable(report, Date.now());
  log("all combinations of field values were compared");
  await using testSystem = await startTestSystem("direct");
  const business = await aBusiness(testSystem.system);
  await using _receiver = business.receiver;
  do {
    const nowMs = Date.now();
    for (let i = 0; i < responsesPerBatch && report.violations.length < violationsMax; i++) {
      const terms = randomTerms(random);
      report.count(`random responses: ${compareVerdicts(report, randomResponse(random, terms, nowMs), terms, formatDay(nowMs))}`);
    }
    const batch = Array.from({ length: applicationsPerBatch }, () => random.fork());
    await Promise.all(batch.map((applicationRandom) => checkApplication({ testSystem, business, report }, applicationRandom)));
    log(
      `${report.counted("checked: API and webhook contain the specified verdict")} applications, ${report.violations.length} violations`,
    );
  } while (!signal.aborted && report.violations.length < violationsMax);
  report.check("webhooks are signed", business.receiver.refused.length === 0, () => business.receiver.refused.join("; "));
}
