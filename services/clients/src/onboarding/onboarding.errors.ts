import { conflict, invalid, notFound } from "@amana/rpc";

export const onboardingDetailsNotFound = () =>
  notFound("onboarding_details_not_found", "The client has no onboarding details yet. Create them first.");

export const onboardingDetailsExist = () =>
  conflict("onboarding_details_exist", "The client has onboarding details. Change them with PATCH.");

export const onboardingLocked = (step: string) =>
  conflict(
    "onboarding_locked",
    `Onboarding details change only before verification begins, and the client is at ${step}. Unless it is APPROVED, a new KYC application opens them again.`,
    { members: { current_step: step } },
  );

/** Some fields are needed always, some because of what others say. */
export const onboardingDetailsIncomplete = (missing: readonly string[]) =>
  invalid("onboarding_details_incomplete", `Send these fields too: ${missing.join(", ")}.`, {
    members: { missing: missing.join(",") },
  });

export const onboardingDecisionUnknown = () =>
  invalid("validation_failed", "The decision must be APPROVED or DECLINED.", { pointer: "/decision" });

export const notPendingApproval = (step: string) =>
  conflict(
    "invalid_status_transition",
    `Only an onboarding at PENDING_APPROVAL can be decided, and this one is at ${step}. Read its status for what is awaited.`,
    { members: { current_step: step } },
  );
