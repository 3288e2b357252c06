import { type OnboardingAnswers, OnboardingAnswersSchema } from "@amana/contracts/clients/v1/onboarding_service_pb";
import { changesOf } from "@amana/database";
import { uuidv7 } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { approveAutomatically } from "./apply-decision.ts";
import type { Onboarding } from "./onboarding.ts";
import { type Answers, OnboardingDetails, requireComplete } from "./onboarding-details.ts";

const readChanges = changesOf(OnboardingDetails, OnboardingAnswersSchema);

/** Returns the onboarding details in a request. An empty list of purposes counts as missing. */
export const readAnswers = (answers: OnboardingAnswers | undefined): Answers => (answers ? readChanges(answers) : {});

/**
 * Stores the first details of a client and updates the onboarding. Throws
 * `onboarding_details_incomplete` if required fields are missing.
 */
export function saveFirstDetails(
  em: SqlEntityManager,
  context: Context,
  onboarding: Onboarding,
  answers: Answers,
): OnboardingDetails {
  requireComplete(answers);
  const now = context.clock.now();
  const { businessId, clientId } = onboarding;
  const details = em.create(OnboardingDetails, {
    ...answers,
    id: uuidv7(now.getTime()),
    businessId,
    clientId,
    createdAt: now,
    updatedAt: now,
  });
  em.persist(details);
  onboarding.addDetails(now);
  approveAutomatically(em, context, onboarding, now);
  return details;
}
