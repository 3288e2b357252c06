import type { Program } from "../program.ts";
import { isSpinInstalled, searchModel } from "./search.ts";
import { variants } from "./variants.ts";

/**
 * Searches each model only once, even in a long run, because one search visits all states.
 */
export const modelsProgram: Program = {
  summary:
    "P1, P4: search all states of the models of a refund and a key revocation, once with all rules and once without each rule",
  async run({ report, log }) {
    if (!(await isSpinInstalled())) throw new Error("spin or gcc is missing. Install them: apt-get install spin gcc libc6-dev");
    for (const variant of variants) {
      const { model, without, meaning } = variant;
      const { states, counterexample } = await searchModel(variant);
      const name = `${model}${without ? ` without a rule (${without})` : ""}`;
      report.count(`states of ${name}`, states);
      log(`${name}: ${meaning}: ${counterexample ? `\n    ${counterexample.join("\n    ")}` : "no violation in any state"}`);
      if (without)
        report.check(
          "a model without a rule has a counterexample",
          counterexample !== undefined,
          () => `${name}: ${meaning}; no counterexample found`,
        );
      else
        report.check("a model has no counterexample", counterexample === undefined, () =>
          [name, ...(counterexample ?? [])].join("\n      "),
        );
    }
  },
};
