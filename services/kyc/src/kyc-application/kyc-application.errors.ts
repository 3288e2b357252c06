import { conflict, invalid, notFound, unavailable, upstreamError } from "@amana/rpc";
import type { KycStatus, Verdict } from "../verification-provider/verification-provider.ts";

export const kycApplicationNotFound = () => notFound("not_found", "There is no such KYC application.");

/** For a client that a body names, or, without a pointer, a query. */
export const namedClientNotFound = (pointer = "/client_id") =>
  notFound("client_not_found", "There is no client with this client_id. Check the id.", { pointer });

export const clientBlocked = () =>
  conflict("client_blocked", "The client is blocked and gets no new verification. Unblock it first.", {
    pointer: "/client_id",
  });

export const kycInProgress = (status: KycStatus) =>
  conflict("kyc_in_progress", `The application is ${status}: what was submitted is being checked. Wait for the outcome.`);

export const kycApplicationFinal = (status: KycStatus) =>
  conflict(
    "kyc_application_final",
    `The application is ${status} and stays so. Create a new one if another verification is needed.`,
  );

export const kycReviewNotOpen = (status: KycStatus, verdict: Verdict | null | undefined) =>
  conflict(
    "kyc_review_not_open",
    `Only an application with the verdict NEEDS_REVIEW can be decided; this one is ${verdict ?? status}. Read it for what became of it.`,
  );

export const reviewOutcomeUnknown = () =>
  invalid("validation_failed", "The outcome must be APPROVED or REJECTED.", { pointer: "/outcome" });

export const kycReviewInProgress = () =>
  conflict(
    "kyc_review_in_progress",
    "Another decision on this application is on its way to the provider. Read the application again in a minute.",
  );

/** The provider's own words are not public, and may repeat what the applicant is called. */
export const kycProviderError = () =>
  upstreamError(
    "kyc_provider_error",
    "The verification provider refused the request. Check its fields, and contact the operator if they are right.",
  );

export const kycProviderUnavailable = () =>
  unavailable(
    "kyc_provider_unavailable",
    "The verification provider gives no answer right now. Send the same request with the same Idempotency-Key again in a moment.",
  );
