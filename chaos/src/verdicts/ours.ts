import { evaluate, type Terms } from "@amana/kyc/evaluate";
import { readState } from "@amana/kyc/read-response";
import { objectOf, type Verdict } from "./specified.ts";

/** What an application was created with, as far as a verdict depends on it. */
export type Asked = Terms;

const frame = { provider_id: "ver_1", reference: "r", status: "COMPLETED", sequence: 5 };

/**
 * What the service makes of the provider's finished answer: read by its allow-list, judged by its
 * rules.
 */
export function ourVerdict(fields: Readonly<Record<string, unknown>>, asked: Asked, today: string): Verdict | "unusable" {
  const state = readState({ ...frame, ...objectOf(fields) });
  return state ? evaluate(state.verdict, state, asked, today).verdict : "unusable";
}
