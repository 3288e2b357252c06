import { conflict, invalid, notFound } from "@amana/rpc";

export const onboardingDetailsNotFound = () =>
  notFound("onboarding_details_not_found", "The client has no onboarding details yet. Create them first.");

export const onboardingDetailsExist = () =>
  conflict("onboarding_details_exist", "The client already has onboarding details. Change them with PATCH.");

export const onboardingLocked = (step: string) =>
  conflict(
    "onboarding_locked",
    `Onboarding details can change only before the verification begins. The client is at ${step}. If this step is not APPROVED, create a new KYC application, and then change the details.`,
    { members: { current_step: step } },
  );

/**
 * Lists the missing fields in the error, because some fields are required only for certain values
 * of another field.
 */
export const onboardingDetailsIncomplete = (missingFields: readonly string[]) =>
  invalid("onboarding_details_incomplete", `Required fields are missing. Send also: ${missingFields.join(", ")}.`, {
    members: { missing: missingFields.join(",") },
  });

export const onboardingDecisionUnknown = () =>
  invalid("validation_failed", "The decision must be APPROVED or DECLINED.", { pointer: "/decision" });

export const notPendingApproval = (step: string) =>
  conflict(
    "invalid_status_transition",
    `Only an onboarding at PENDING_APPROVAL can be decided. This onboarding is at ${step}. Read its status for the next step.`,
    { members: { current_step: step } },
  );
