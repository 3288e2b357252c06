import { type KycProvider, kycProviderSettings } from "@amana/dev-env/services";
import { aBusiness, startTestSystem, type TestSystem } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import { Pool } from "pg";
import type { Program, ProgramRun } from "../program.ts";
import { createRandom, type Random } from "../random.ts";
import { checkApplication } from "./check-application.ts";
import { checkResubmission } from "./check-resubmission.ts";
import { injectKycFaults } from "./kyc-faults.ts";
import { randomResponse, randomTerms } from "./random-response.ts";
import { type ApplicationContext, createApplication, type TestedApplication } from "./tested-application.ts";
import { checkTruthTable, compareVerdicts, formatDay } from "./truth-table.ts";

/** For each batch of applications, number of responses that are evaluated without a system. */
const responsesPerBatch = 20_000;
const applicationsPerBatch = 24;
/** Smaller than with `port`, because a replica uses only a quarter of a vendor's rate limits. */
const vendorApplicationsPerBatch = 12;
const resubmissionsPerBatch = 2;
/** Period over which submissions are spread. Faults are injected in this period. */
const submissionMsMax = 6_000;
/** Pauses between reads at the vendor. They respect the vendor's rate limits. */
const vendorSettings = { KYC_CHECK_SECONDS: "1,3,6" };
const violationsMax = 50;

/** Returns the settings of kyc for a run with this verification provider. */
const kycSettingsOf = (kycProvider: KycProvider) => ({
  ...(kycProvider !== "port" && vendorSettings),
  ...kycProviderSettings(kycProvider),
});

/**
 * Compares verdicts with `specified.ts`, a second implementation of the specification. Uses every
 * combination of field values, random responses of a faulty provider, and applications in a running
 * system with the API, webhooks and decisions by a person. With a vendor, tests only the running
 * system, but injects faults into kyc and into the vendor's callbacks and responses.
 */
export const verdictsProgram: Program = {
  summary:
    "P8, P9: return faulty provider responses; each verdict has its evidence and reasons, and no provider text is returned",
  async run(options) {
    await using testSystem = await startTestSystem("direct");
    await attack(testSystem, options);
  },
};

/** Returns the program `verdicts` for a running system. */
export const verdictsOn = (testSystem: TestSystem): Program => ({
  ...verdictsProgram,
  run: (options) => attack(testSystem, options),
});

async function attack(testSystem: TestSystem, options: ProgramRun): Promise<void> {
  const { seed, signal, report, log, kycProvider = "port" } = options;
  const random = createRandom(seed);
  if (kycProvider === "port") {
    checkTruthTable(report, Date.now());
    log("all combinations of field values were compared");
  }
  const { services, waitUntilReady } = testSystem.system;
  await services.kyc.stop();
  await services.kyc.start(kycSettingsOf(kycProvider));
  await waitUntilReady();
  const business = await aBusiness(testSystem.system);
  await using _receiver = business.receiver;
  const identity = new Pool({ connectionString: testSystem.system.databaseUrls["identity"], max: 4 });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => identity.end());
  const context: ApplicationContext = { testSystem, kycProvider, business, report, identity };
  do {
    if (kycProvider === "port") compareRandomResponses(options, random);
    await checkBatch(context, random);
    log(
      `${report.countOf("checked: API and webhook contain the specified verdict")} applications, ${report.violations.length} violations`,
    );
  } while (!signal.aborted && report.violations.length < violationsMax);
  report.check("webhooks are signed", business.receiver.refused.length === 0, () => business.receiver.refused.join("; "));
}

function compareRandomResponses({ report }: ProgramRun, random: Random): void {
  const nowMs = Date.now();
  for (let i = 0; i < responsesPerBatch && report.violations.length < violationsMax; i++) {
    const terms = randomTerms(random);
    report.count(`random responses: ${compareVerdicts(report, randomResponse(random, terms, nowMs), terms, formatDay(nowMs))}`);
  }
}

/**
 * Creates applications and checks them in parallel. With a vendor, injects faults during the
 * checks, but not during creations. If kyc is killed during a creation, the request with the same
 * Idempotency-Key cannot succeed for half a minute.
 */
async function checkBatch(context: ApplicationContext, random: Random): Promise<void> {
  const { kycProvider, report, testSystem } = context;
  const isVendor = kycProvider !== "port";
  const create = async (check: (application: TestedApplication, random: Random) => Promise<void>) => {
    const fork = random.fork();
    const application = await createApplication(context, fork);
    return async () => {
      if (isVendor) await sleep(fork.integer(0, submissionMsMax));
      if (application) await check(application, fork);
    };
  };
  const repeated = <T>(count: number, work: () => T): T[] => Array.from({ length: count }, work);
  const checks = await Promise.all([
    ...repeated(isVendor ? vendorApplicationsPerBatch : applicationsPerBatch, () => create(checkApplication)),
    ...repeated(kycProvider === "didit" ? resubmissionsPerBatch : 0, () => create(checkResubmission)),
  ]);
  const ended = new AbortController();
  const faultsContext = { system: testSystem.system, kycProvider, kycSettings: kycSettingsOf(kycProvider), report };
  const faults = isVendor ? injectKycFaults(faultsContext, random.fork(), ended.signal) : Promise.resolve();
  // Prevents an unhandled rejection if the checks fail before `faults` is awaited.
  faults.catch(() => {});
  try {
    await Promise.all(checks.map((check) => check()));
  } finally {
    ended.abort();
    await faults;
  }
}
