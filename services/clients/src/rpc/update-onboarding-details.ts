import type { OnboardingService } from "@amana/contracts/clients/v1/onboarding_service_pb";
import { transaction } from "@amana/database";
import { type Implementation, requireBusiness } from "@amana/rpc";
import type { Context } from "../context.ts";
import { lockOnboarding } from "../onboarding/lock-onboarding.ts";
import { onboardingLocked } from "../onboarding/onboarding.errors.ts";
import { toDetailsMessage } from "../onboarding/onboarding.message.ts";
import { OnboardingDetails } from "../onboarding/onboarding-details.ts";
import { readAnswers, saveFirstDetails } from "../onboarding/save-first-details.ts";

export const updateOnboardingDetails =
  (context: Context): Implementation<typeof OnboardingService.method.updateOnboardingDetails> =>
  async (request, { caller }) => {
    const businessId = requireBusiness(caller);
    return await transaction(context.orm, async (em) => {
      const { onboarding } = await lockOnboarding(em, businessId, request.clientId);
      if (!onboarding.acceptsDetails()) throw onboardingLocked(onboarding.step);
      const answers = readAnswers(request.answers);
      const details = await em.findOne(OnboardingDetails, { businessId, clientId: onboarding.clientId });
      if (!details) return toDetailsMessage(saveFirstDetails(em, context, onboarding, answers), onboarding);
      details.change(answers, context.clock.now());
      return toDetailsMessage(details, onboarding);
    });
  };
