import { isNotFound, isReadable } from "../http-calls.ts";
import type { RemainingMs } from "../time-budget.ts";
import { reportUnknownStatus } from "../vendor-state.ts";
import type { ApplicationState, KnownApplication, Outcome } from "../verification-provider.ts";
import { readApplicant, readReview } from "./read-applicant.ts";
import { applicantPath, type SumsubApi } from "./sumsub-api.ts";
import { levelFor } from "./sumsub-config.ts";

/**
 * Reads an applicant. If the applicant's status requires them, also reads the steps and the AML
 * case. `readReview` explains `isDeactivatedHere`.
 */
export async function readState(
  api: SumsubApi,
  known: KnownApplication,
  remainingMs: RemainingMs,
  isDeactivatedHere = false,
): Promise<Outcome<ApplicationState>> {
  const applicant = await api.get("kyc_get", `${applicantPath(known)}/one`, remainingMs);
  if (applicant.status !== 200) return api.toFailure(applicant);
  const review = readReview(applicant.content, isDeactivatedHere);
  if (!review) return reportUnknownStatus(api.logger, "sumsub", known);
  const isDecided = review.status === "COMPLETED";
  const needsSteps = isDecided || review.reviewStatus === "init";
  // Does not read the AML case again while the application stays in review, because the evidence
  // does not change and the rate limit for AML cases is low.
  const isStillInReview = known.awaitsReview && review.verdict === "NEEDS_REVIEW";
  const needsAml = isDecided && review.verdict !== "REJECTED" && !isStillInReview;
  const amlPath = `/resources/api/applicants/${encodeURIComponent(known.providerId)}/amlCase`;
  const [steps, amlCase] = await Promise.all([
    needsSteps ? api.get("kyc_steps", `${applicantPath(known)}/requiredIdDocsStatus`, remainingMs) : undefined,
    needsAml ? api.call({ operation: "kyc_aml", rateLimit: "aml", method: "GET", path: amlPath }, remainingMs) : undefined,
  ]);
  if (steps && !isReadable(steps)) return { kind: "unknown", reason: "the steps cannot be read" };
  // Only status 404 means that no case exists. If the read failed, a case with hits may exist.
  const hasCase = amlCase && isReadable(amlCase);
  const hasNoCase = !amlCase || isNotFound(amlCase);
  if (!hasCase && !hasNoCase) return { kind: "unknown", reason: "the AML case cannot be read" };
  const responses = {
    applicant: applicant.content,
    steps: steps?.content,
    amlCase: hasCase ? amlCase.content : undefined,
  };
  return { kind: "accepted", value: readApplicant(review, responses, known, levelFor(api.config, known)) };
}
