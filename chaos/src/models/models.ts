import type { Program } from "../program.ts";
import { isSpinThere, search } from "./search.ts";
import { variants } from "./variants.ts";

/**
 * Searches the models once, whatever time it was given: a search that saw every state has nothing
 * left to try.
 */
export const models: Program = {
  attacks: "P1 and P4 as models: every order of events of a refund and of a revocation, and what each rule is there for",
  async run({ report, say }) {
    if (!(await isSpinThere())) throw new Error("The models need spin and gcc: apt-get install spin gcc libc6-dev");
    for (const variant of variants) {
      const { model, without, says } = variant;
      const { states, counterexample } = await search(variant);
      const name = `${model}${without ? ` without its rule (${without})` : ""}`;
      report.count(`states of ${name}`, states);
      say(`${name}: ${says}: ${counterexample ? `\n    ${counterexample.join("\n    ")}` : "nothing is wrong in any state"}`);
      if (without)
        report.check("rules that are needed", counterexample !== undefined, () => `${name}: ${says}, and nothing happens`);
      else
        report.check("models that hold", counterexample === undefined, () => [name, ...(counterexample ?? [])].join("\n      "));
    }
  },
};
