import {
  OnboardingDetailsSchema,
  OnboardingSchema,
  OnboardingStep,
  OverallStatus,
} from "@amana/contracts/clients/v1/onboarding_pb";
import { defineView } from "@amana/database";
import { Onboarding } from "./onboarding.ts";
import { OnboardingDetails } from "./onboarding-details.ts";

const onboardingView = defineView(Onboarding, OnboardingSchema);
const detailsView = defineView(OnboardingDetails, OnboardingDetailsSchema);

const verificationOf = (onboarding: Onboarding) => ({
  kycApplicationId: onboarding.verificationId ?? undefined,
  kycApplicationOpen: onboarding.isVerificationOpen(),
});

export const toOnboardingMessage = (onboarding: Onboarding) =>
  onboardingView.toMessage(onboarding, {
    currentStep: OnboardingStep[onboarding.step],
    overallStatus: OverallStatus[onboarding.overallStatus()],
    ...verificationOf(onboarding),
  });

export const toDetailsMessage = (details: OnboardingDetails, onboarding: Onboarding) =>
  detailsView.toMessage(details, verificationOf(onboarding));
