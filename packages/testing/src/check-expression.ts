import { createRequire } from "node:module";
import { type AST, RegExpParser, visitRegExpAST } from "@eslint-community/regexpp";

// The build for browsers runs in this process and needs no Java, native program or worker.
const { checkSync } = createRequire(import.meta.url)("recheck/lib/browser.js") as typeof import("recheck");
const parser = new RegExpParser();

/**
 * Maximum number of ways to match at one place. More ways would take too long, even if their number
 * does not depend on the text.
 */
const waysMax = 1_000;
const timeoutMs = 120_000;

/**
 * Returns the reason for which a search for an expression may take more than linear time on some
 * text, or undefined when it always takes linear time. The result depends on the expression's
 * automaton and not on measured time. The timeout applies to the analysis only.
 */
export function findSuperLinearity(pattern: string, flags: string): string | undefined {
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
 * Returns the number of ways in which a matcher can continue at one place. An unbounded repetition
 * counts once.
 */
function waysOf(node: AST.Pattern | AST.Element): number {
  if ("alternatives" in node) {
    const ways = node.alternatives.map(({ elements }) => elements.reduce((product, element) => product * waysOf(element), 1));
    return ways.reduce((sum, count) => sum + count, 0);
  }
  if (node.type !== "Quantifier") return 1;
  const ways = waysOf(node.element);
  if (node.max === Number.POSITIVE_INFINITY) return ways;
  let sum = 0;
  for (let times = node.min; times <= node.max && sum <= waysMax; times++) sum += ways ** times;
  return sum;
}

/** Returns whether the expression reads a bounded number of characters from each place. */
function isBounded(tree: AST.Pattern): boolean {
  let bounded = true;
  visitRegExpAST(tree, {
    onQuantifierEnter: ({ max }) => {
      if (max === Number.POSITIVE_INFINITY) bounded = false;
    },
  });
  return bounded;
}
