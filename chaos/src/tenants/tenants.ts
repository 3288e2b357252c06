import { startTestSystem } from "@amana/e2e/test-system";
import type { Program } from "../program.ts";
import { createRandom } from "../random.ts";
import { makeNoise } from "./noise.ts";
import { useForeignIdentifiers } from "./use-foreign-identifiers.ts";
import { settingsWithoutFilters, useForeignIdentifiersWithoutFilters } from "./without-filters.ts";

/** Rate limits like in a deployment. A test system has no rate limits by default. */
const limits = {
  RATE_LIMIT_PER_SECOND: "100",
  RATE_LIMIT_KYC_PER_SECOND: "10",
  RATE_LIMIT_REFUND_PER_SECOND: "10",
  RATE_LIMIT_CREATION_PER_SECOND: "50",
  RATE_LIMIT_SEARCH_PER_SECOND: "20",
};

export const tenantsProgram: Program = {
  summary:
    "P5: use ids of another business at every place of every operation; P7: flood the API with one business while another works",
  async run({ seed, signal, report, log }) {
    const random = createRandom(seed);
    const settings = settingsWithoutFilters({ payments: { PAYMENT_CHECK_SECONDS: "0.5" } });
    await using test = await startTestSystem("direct", { ...settings, gateway: limits });
    log("testing access to another business without tenant filters");
    await useForeignIdentifiersWithoutFilters(test.system, random, report);
    log("testing access to another business with tenant filters");
    await useForeignIdentifiers(test.system, random, report);
    log("one business floods the API while another business works");
    await makeNoise(test.system, { random, report, signal, log });
  },
};
