import type { OnboardingAnswers } from "@amana/contracts/clients/v1/onboarding_service_pb";
import { namedFields } from "../changes.ts";
import type { Answers } from "./onboarding-details.ts";

const clearable = [
  "fundsOriginCountryId",
  "otherOccupation",
  "otherSourceOfFunds",
  "taxIdentificationNumber",
] as const satisfies (keyof Answers)[];

/** What a request answers; no purposes are no answer about them. */
export function readAnswers(given: OnboardingAnswers | undefined): Answers {
  if (!given) return {};
  const { $typeName: _type, $unknown: _unknown, accountPurposes, cleared, ...fields } = given;
  const purposes = accountPurposes.length > 0 ? accountPurposes : undefined;
  return namedFields<Answers>({ ...fields, accountPurposes: purposes }, cleared, clearable);
}
