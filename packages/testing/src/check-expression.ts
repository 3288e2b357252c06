import { createRequire } from "node:module";
import { type AST, RegExpParser, visitRegExpAST } from "@eslint-community/regexpp";

// The build for browsers runs in this process: no Java, no program for one platform, no worker.
const { checkSync } = createRequire(import.meta.url)("recheck/lib/browser.js") as typeof import("recheck");
const parser = new RegExpParser();

/**
 * More combinations of bounded repetitions and alternatives than this take too long, though their
 * number is constant.
 */
const waysMax = 1_000;
const timeoutMs = 120_000;

/**
 * Why one search for an expression may take more than linear time on some text, or undefined when
 * it cannot. The decision follows from the expression's automaton and not from measured time; a
 * time limit only ends the decision.
 */
export function superLinearity(pattern: string, flags: string): string | undefined {
  const sets = { unicode: flags.includes("u"), unicodeSets: flags.includes("v") };
  const tree = parser.parsePattern(pattern, 0, pattern.length, sets);
  if (waysOf(tree) > waysMax) return `can match in more than ${waysMax} ways at one place: write it in a simpler way`;
  if (isBounded(tree)) return undefined;
  const result = checkSync(pattern, flags, { checker: "automaton", timeout: timeoutMs });
  if (result.status === "safe") return undefined;
  if (result.status === "vulnerable") return `takes ${result.complexity.summary} time`;
  const { error } = result;
  const reason = "message" in error ? `${error.kind}: ${error.message}` : error.kind;
  return `cannot be decided (${reason}): write it in a simpler way`;
}

/**
 * The number of ways in which a matcher can go on at one place, with an unbounded repetition taken
 * once.
 */
function waysOf(node: AST.Pattern | AST.Element): number {
  if ("alternatives" in node) {
    const ways = node.alternatives.map(({ elements }) => elements.reduce((product, element) => product * waysOf(element), 1));
    return ways.reduce((sum, one) => sum + one, 0);
  }
  if (node.type !== "Quantifier") return 1;
  const ways = waysOf(node.element);
  if (node.max === Number.POSITIVE_INFINITY) return ways;
  let sum = 0;
  for (let times = node.min; times <= node.max && sum <= waysMax; times++) sum += ways ** times;
  return sum;
}

/** Whether the expression looks at a bounded number of characters from each place. */
function isBounded(tree: AST.Pattern): boolean {
  let bounded = true;
  visitRegExpAST(tree, {
    onQuantifierEnter: ({ max }) => {
      if (max === Number.POSITIVE_INFINITY) bounded = false;
    },
  });
  return bounded;
}
