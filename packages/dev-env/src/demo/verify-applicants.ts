import type { CreateKycApplicationBody } from "@amana/client";
import { verifyInBrowser } from "./in-browser.ts";
import type { Participants } from "./participants.ts";
import type { Reporter } from "./reporter.ts";
import { submitApplication } from "./sandbox-control.ts";

const reviewNote = "Same name as on a sanctions list, another date of birth.";

/** Verifies three applicants: approved, rejected, and decided by a compliance officer. */
export async function verifyApplicants(
  reporter: Reporter,
  participants: Participants,
  options: { inBrowser: boolean },
): Promise<void> {
  const { step, print, expect, expectFields, expectProblem } = reporter;
  const { business, operator } = participants;

  step(
    options.inBrowser
      ? "An applicant completes the hosted page, in a browser."
      : "An applicant completes the verification (simulated by the sandbox; --browser uses the hosted page).",
  );
  const metadata = { cart: 7, vip: true };
  const verified = await apply("applicant-1", { metadata, locale: "en" });
  if (options.inBrowser) await verifyInBrowser(verified.link);
  else await submitApplication(participants.sandboxUrl, verified.link, { outcome: "approved" });
  const completed = await participants.expectWebhook("KYC_COMPLETED", verified.id);
  expect(
    completed.body["verdict"] === "APPROVED" &&
      completed.body["external_id"] === "applicant-1" &&
      JSON.stringify(completed.body["metadata"]) === JSON.stringify(metadata),
    "the webhook contains the verdict APPROVED, and the external_id and metadata of the business",
  );
  print(`   ${JSON.stringify(completed.body)}`);

  step("A second applicant submits an expired document.");
  const rejectedApplicant = await apply("applicant-2");
  await submitApplication(participants.sandboxUrl, rejectedApplicant.link, {
    outcome: "approved",
    document_expiry: "2020-01-31",
  });
  const refusal = await participants.expectWebhook("KYC_REJECTED", rejectedApplicant.id);
  const reasons = refusal.body["reason_codes"] as { code: string }[];
  expect(
    refusal.body["verdict"] === "REJECTED" && reasons.some(({ code }) => code === "DOCUMENT_EXPIRED"),
    "the webhook contains the verdict REJECTED, with the reason DOCUMENT_EXPIRED",
  );

  step("A third applicant has a possible match on a sanctions list.");
  const reviewed = await apply("applicant-3");
  await submitApplication(participants.sandboxUrl, reviewed.link, { outcome: "approved", aml_hit_count: 1 });
  const reviewRequest = await participants.expectWebhook("KYC_NEEDS_REVIEW", reviewed.id);
  expect(
    reviewRequest.body["verdict"] === "NEEDS_REVIEW" && reviewRequest.body["aml_hit_count"] === 1,
    "the webhook contains the verdict NEEDS_REVIEW, because a person must decide about a possible match",
  );
  const ownReview = business.kycApplications.review(reviewed.id, { outcome: "APPROVED", note: "." });
  await expectProblem(ownReview, 403, "admin_required", "a review with the business's key returns 403 admin_required");
  const decided = await operator.kycApplications.review(reviewed.id, { outcome: "APPROVED", note: reviewNote });
  expectFields(decided, { verdict: "APPROVED" }, "a compliance officer approves the application, with a note in the audit trail");
  const resolved = await participants.expectWebhook("KYC_REVIEW_RESOLVED", reviewed.id);
  expect(resolved.body["verdict"] === "APPROVED", "the webhook contains the final verdict");

  async function apply(externalId: string, additionalFields: CreateKycApplicationBody = {}) {
    const application = await business.kycApplications.create({ external_id: externalId, ...additionalFields });
    expectFields(application, { status: "CREATED" }, `the application of ${externalId} is CREATED and has a link`);
    return { id: application.id, link: application.link_url };
  }
}
