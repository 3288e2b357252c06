import { OnboardingDetailsSchema } from "@amana/contracts/clients/v1/onboarding_pb";
import type { OnboardingService } from "@amana/contracts/clients/v1/onboarding_service_pb";
import { once } from "@amana/idempotency";
import { type Implementation, requireBusiness } from "@amana/rpc";
import type { Context } from "../context.ts";
import { lockOnboarding } from "../onboarding/lock-onboarding.ts";
import { onboardingDetailsExist } from "../onboarding/onboarding.errors.ts";
import { toDetailsMessage } from "../onboarding/onboarding.message.ts";
import { readAnswers, saveFirstDetails } from "../onboarding/save-first-details.ts";

export const createOnboardingDetails =
  (context: Context): Implementation<typeof OnboardingService.method.createOnboardingDetails> =>
  async (request, call) => {
    const businessId = requireBusiness(call.caller);
    return await once(context.orm, call, OnboardingDetailsSchema, async (em) => {
      const { onboarding } = await lockOnboarding(em, businessId, request.clientId);
      if (onboarding.hasDetails) throw onboardingDetailsExist();
      return toDetailsMessage(saveFirstDetails(em, context, onboarding, readAnswers(request.answers)), onboarding);
    });
  };
