import { ClientKycStatus } from "@amana/contracts/clients/v1/client_pb";
import {
  type OnboardingDetails as DetailsMessage,
  OnboardingDetailsSchema,
  type Onboarding as OnboardingMessage,
  OnboardingSchema,
  OnboardingStep,
  OverallStatus,
} from "@amana/contracts/clients/v1/onboarding_pb";
import { create } from "@bufbuild/protobuf";
import type { Onboarding } from "./onboarding.ts";
import type { OnboardingDetails } from "./onboarding-details.ts";

const verificationOf = (onboarding: Onboarding) => ({
  kycApplicationId: onboarding.verificationId ?? undefined,
  kycApplicationOpen: onboarding.isVerificationOpen(),
});

export function toOnboardingMessage(onboarding: Onboarding): OnboardingMessage {
  return create(OnboardingSchema, {
    id: onboarding.id,
    clientId: onboarding.clientId,
    currentStep: OnboardingStep[onboarding.step],
    kycStatus: ClientKycStatus[onboarding.kycStatus],
    overallStatus: OverallStatus[onboarding.overallStatus()],
    createdAtMs: BigInt(onboarding.createdAt.getTime()),
    updatedAtMs: BigInt(onboarding.updatedAt.getTime()),
    ...verificationOf(onboarding),
  });
}

export function toDetailsMessage(details: OnboardingDetails, onboarding: Onboarding): DetailsMessage {
  return create(OnboardingDetailsSchema, {
    id: details.id,
    clientId: details.clientId,
    accountPurposes: details.accountPurposes,
    expectedMonthlyIncomingVolume: details.expectedMonthlyIncomingVolume,
    expectedMonthlyOutgoingVolume: details.expectedMonthlyOutgoingVolume,
    isUsPerson: details.isUsPerson,
    occupation: details.occupation,
    occupationSector: details.occupationSector,
    sourceOfFunds: details.sourceOfFunds,
    createdAtMs: BigInt(details.createdAt.getTime()),
    updatedAtMs: BigInt(details.updatedAt.getTime()),
    fundsOriginCountryId: details.fundsOriginCountryId ?? undefined,
    otherOccupation: details.otherOccupation ?? undefined,
    otherSourceOfFunds: details.otherSourceOfFunds ?? undefined,
    taxIdentificationNumber: details.taxIdentificationNumber ?? undefined,
    ...verificationOf(onboarding),
  });
}
