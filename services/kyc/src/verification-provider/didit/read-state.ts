import type { RemainingMs } from "../time-budget.ts";
import { endsReviewWithApproval, reportUnknownStatus, withoutProof } from "../vendor-state.ts";
import type { ApplicationState, KnownApplication, Outcome } from "../verification-provider.ts";
import { type DiditApi, sessionPath } from "./didit-api.ts";
import { isApprovedByPerson, readDecision, reviewsMax } from "./read-decision.ts";

/**
 * Reads a session's decision. If Didit reports an approval during a review, also checks that a
 * person approved.
 */
export async function readState(
  api: DiditApi,
  known: KnownApplication,
  remainingMs: RemainingMs,
): Promise<Outcome<ApplicationState>> {
  const response = await api.get("kyc_get", `${sessionPath(known)}/decision/`, remainingMs);
  if (response.status !== 200) return api.toFailure(response);
  const state = readDecision(response.content, known, api.config.environment);
  if (!state) return reportUnknownStatus(api.logger, "didit", known);
  if (!endsReviewWithApproval(state, known)) return { kind: "accepted", value: state };
  const proven = { kind: "accepted", value: { ...state, hasProofOfPerson: true } } as const;
  if (known.pendingOutcome === "APPROVED") return proven;
  // Reads the reviews, because an API key or a rule can also approve a session in review, and only
  // a person's approval counts.
  const reviewsPath = `/v3/sessions/${encodeURIComponent(known.providerId)}/reviews/?limit=${reviewsMax}`;
  const reviews = await api.get("kyc_reviews", reviewsPath, remainingMs);
  const isProven = reviews.status === 200 ? isApprovedByPerson(reviews.content) : undefined;
  if (isProven === undefined) return { kind: "unknown", reason: "the reviews cannot be read" };
  return isProven ? proven : { kind: "accepted", value: withoutProof(state) };
}
