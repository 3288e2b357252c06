import { startTestSystem } from "@amana/dev-env/test-system";
import type { Program } from "../program.ts";
import { createRandom } from "../random.ts";
import { trespass } from "./trespass.ts";

export const tenants: Program = {
  attacks: "P5: another business's ids at every place of every operation; P7: one business's noise while another works",
  async run({ seed, report, say }) {
    const random = createRandom(seed);
    await using test = await startTestSystem("direct");
    say("the system runs; one business tries the other's doors");
    await trespass(test.system, random, report);
  },
};
