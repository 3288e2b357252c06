import { type OnboardingAnswers, OnboardingAnswersSchema } from "@amana/contracts/clients/v1/onboarding_service_pb";
import { changesOf } from "@amana/database";
import { type Answers, OnboardingDetails } from "./onboarding-details.ts";

const read = changesOf(OnboardingDetails, OnboardingAnswersSchema);

/** What a request answers; no purposes are no answer about them. */
export const readAnswers = (given: OnboardingAnswers | undefined): Answers => (given ? read(given) : {});
