import type { Prose } from "./find-prose.ts";

interface Rule {
  readonly pattern: RegExp;
  readonly prefer: string;
  /** Kinds of text to which the rule applies. The rule applies to all kinds when this is absent. */
  readonly kinds?: readonly Prose["kind"][];
}

/** Words and openings that readers had to read twice, each with the wording to use. */
const rules: readonly Rule[] = [
  {
    pattern: /^(what|whatever|whoever|who|whose|nobody|somebody|nothing|those|one|so many|how)\b/i,
    prefer: "start with a verb or a noun: the actor, or what the item returns or holds",
    kinds: ["comment", "test title"],
  },
  { pattern: /\b(whoever|whomever|nobody|somebody)\b/i, prefer: "name the actor: the caller, the operator, no client" },
  { pattern: /\b(says?|said|tells?|told|telling)\b/i, prefer: "returns, reports, contains, is notified of" },
  { pattern: /\b(knows|believes?|believed)\b/i, prefer: "has, caches, accepts" },
  { pattern: /\b(asks?|asked|asking)\b/i, prefer: "request, query, call" },
  { pattern: /\banswer(s|ed|ing)?\b/i, prefer: "response (HTTP, RPC), result (function), returns, responds" },
  { pattern: /\bset aside\b/i, prefer: "dead-lettered" },
  { pattern: /\b(tak(e|es|en|ing)|took) over\b/i, prefer: "apply (a state), adopt (a change), fail over (a lease)" },
  { pattern: /\bvouch/i, prefer: "sign (a caller token)" },
  { pattern: /\b(farewell|tak(e|es|ing) leave)\b/i, prefer: "graceful shutdown, drain" },
  { pattern: /\btall(y|ies)\b/i, prefer: "counter" },
  { pattern: /\banew\b/i, prefer: "again, regenerated, rewritten" },
  { pattern: /\bmend(s|ed|ing)?\b/i, prefer: "fix" },
  { pattern: /\b(bent|bends?|bending)\b/i, prefer: "tampered with, tamper with" },
  { pattern: /\bthe (outside|world)\b/i, prefer: "upstream, external" },
  { pattern: /\bunder way\b/i, prefer: "in flight, in progress" },
  { pattern: /\bjudg(e|es|ed|ing|ements?|ments?)\b/i, prefer: "evaluate, evaluation" },
  { pattern: /\bnouns?\b/i, prefer: "resource" },
  { pattern: /\blanes?\b/i, prefer: "bulkhead (gateway), delivery class (webhooks)" },
  { pattern: /\bstands? in for\b/i, prefer: "simulates" },
  { pattern: /\bbefall/i, prefer: "happens to" },
  { pattern: /\bfor want of\b/i, prefer: "without" },
];

/** Code in back ticks and quoted text may name values of the API. */
const withoutQuotes = (text: string) => text.replaceAll(/`[^`]*`|"[^"]*"|“[^”]*”/g, "…");

/** A match of a rule in a text, and the wording to use. */
interface Violation {
  readonly found: string;
  readonly prefer: string;
}

/** Returns a violation for each rule that a text breaks. */
export function violationsOf(text: string, kind: Prose["kind"]): Violation[] {
  const plain = withoutQuotes(text);
  return rules.flatMap(({ pattern, kinds, prefer }) => {
    const [found] = !kinds || kinds.includes(kind) ? (pattern.exec(plain) ?? []) : [];
    return found === undefined ? [] : [{ found, prefer }];
  });
}
