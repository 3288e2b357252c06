import { startTestSystem } from "@amana/e2e/test-system";
import type { Program } from "../program.ts";
import { createRandom } from "../random.ts";
import { filterless, withoutFilters } from "./filterless.ts";
import { makeNoise } from "./noise.ts";
import { trespass } from "./trespass.ts";

/** The limits of a deployment, which tests are otherwise spared. */
const limits = {
  RATE_LIMIT_PER_SECOND: "100",
  RATE_LIMIT_KYC_PER_SECOND: "10",
  RATE_LIMIT_REFUND_PER_SECOND: "10",
  RATE_LIMIT_CREATION_PER_SECOND: "50",
  RATE_LIMIT_SEARCH_PER_SECOND: "20",
};

export const tenants: Program = {
  attacks: "P5: another business's ids at every place of every operation; P7: one business's noise while another works",
  async run({ seed, signal, report, say }) {
    const random = createRandom(seed);
    const settings = filterless({ payments: { PAYMENT_CHECK_SECONDS: "0.5" } });
    await using test = await startTestSystem("direct", { ...settings, gateway: limits });
    say("one business tries the other's doors, which have lost their tenant filters");
    await withoutFilters(test.system, random, report);
    say("the same with them");
    await trespass(test.system, random, report);
    say("one business makes noise while the other works");
    await makeNoise(test.system, { random, report, signal, say });
  },
};
