import { evaluate, type Requirements } from "@amana/kyc/evaluate";
import { readState } from "@amana/kyc/read-response";
import { objectOf, type Verdict } from "./specified.ts";

const requiredFields = { provider_id: "ver_1", reference: "r", status: "COMPLETED", sequence: 5 };

/** Evaluates the provider's response with the code of the service kyc. */
export function computeServiceVerdict(
  fields: Readonly<Record<string, unknown>>,
  terms: Requirements,
  today: string,
): Verdict | "unusable" {
  const state = readState(objectOf(requiredFields, fields));
  return state ? evaluate(state.verdict, state, terms, today).verdict : "unusable";
}
