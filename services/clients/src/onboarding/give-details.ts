import { type OnboardingAnswers, OnboardingAnswersSchema } from "@amana/contracts/clients/v1/onboarding_service_pb";
import { changesOf } from "@amana/database";
import { uuidv7 } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { approveUnasked } from "./decide.ts";
import type { Onboarding } from "./onboarding.ts";
import { type Answers, OnboardingDetails, refuseIncomplete } from "./onboarding-details.ts";

const readChanges = changesOf(OnboardingDetails, OnboardingAnswersSchema);

/** What a request answers; no purposes are no answer about them. */
export const readAnswers = (given: OnboardingAnswers | undefined): Answers => (given ? readChanges(given) : {});

/** A client's first details, complete or refused. The onboarding goes on from there. */
export function giveDetails(em: SqlEntityManager, context: Context, onboarding: Onboarding, answers: Answers): OnboardingDetails {
  refuseIncomplete(answers);
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
  onboarding.detailsGiven(now);
  approveUnasked(em, context, onboarding, now);
  return details;
}
