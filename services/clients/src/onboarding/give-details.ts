import { uuidv7 } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { approveUnasked } from "./decide.ts";
import type { Onboarding } from "./onboarding.ts";
import { type Answers, OnboardingDetails, refuseIncomplete } from "./onboarding-details.ts";

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
