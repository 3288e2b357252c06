import { conflict, invalid, notFound, unavailable, upstreamError } from "@amana/rpc";
import type { FieldRefusal, KycStatus, Verdict } from "../verification-provider/verification-provider.ts";

export const kycApplicationNotFound = () => notFound("not_found", "There is no KYC application with this id. Check the id.");

/**
 * `pointer` is the JSON pointer to the client id in the request body. The pointer must be empty if
 * the client id is a query parameter.
 */
export const referencedClientNotFound = (pointer = "/client_id") =>
  notFound("client_not_found", "There is no client with this client_id. Check the id.", { pointer });

export const clientBlocked = () =>
  conflict("client_blocked", "The client is blocked and cannot get a new verification. Unblock the client first.", {
    pointer: "/client_id",
  });

export const kycInProgress = (status: KycStatus) =>
  conflict("kyc_in_progress", `The application is ${status}: the provider is checking the submission. Wait for the result.`);

export const kycApplicationFinal = (status: KycStatus) =>
  conflict(
    "kyc_application_final",
    `The application is ${status}, and this status is final. Create a new application if another verification is needed.`,
  );

export const kycReviewNotOpen = (status: KycStatus, verdict: Verdict | null | undefined) =>
  conflict(
    "kyc_review_not_open",
    `Only an application with the verdict NEEDS_REVIEW can be decided. This application is ${verdict ?? status}. Read the application for its current state.`,
  );

export const reviewOutcomeUnknown = () =>
  invalid("validation_failed", "The outcome must be APPROVED or REJECTED.", { pointer: "/outcome" });

export const kycReviewInProgress = () =>
  conflict(
    "kyc_review_in_progress",
    "Another decision on this application is in progress at the provider. Read the application again in a minute.",
  );

/** Refusal for a field whose value the deployment's verification provider does not support. */
export const unsupportedByProvider = ({ pointer, detail }: FieldRefusal) =>
  invalid("unsupported_by_provider", detail, { pointer });

/** Omits the provider's text, because it is not public and may contain the applicant's name. */
export const kycProviderError = () =>
  upstreamError(
    "kyc_provider_error",
    "The verification provider rejected the request. Check its fields. Contact the operator if they are correct.",
  );

export const kycProviderUnavailable = () =>
  unavailable(
    "kyc_provider_unavailable",
    "The verification provider does not respond. Send the same request with the same Idempotency-Key again in a moment.",
  );
