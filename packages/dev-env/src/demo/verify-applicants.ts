import type { CreateKycApplicationBody } from "@amana/client";
import { submit } from "./at-the-sandbox.ts";
import type { Cast } from "./cast.ts";
import { verifyInBrowser } from "./in-browser.ts";
import type { Story } from "./story.ts";

const reviewNote = "Same name as on a sanctions list, another date of birth.";

/** Three applicants: one verified, one rejected, one that a compliance officer decides. */
export async function verifyApplicants(story: Story, cast: Cast, options: { inBrowser: boolean }): Promise<void> {
  const { step, say, expect, expectAnswer, expectRefusal } = story;
  const { business, operator } = cast;

  step(
    options.inBrowser
      ? "An applicant verifies herself on the hosted page, in a browser."
      : "An applicant verifies herself (by the sandbox's control call; --browser uses the page).",
  );
  const metadata = { cart: 7, vip: true };
  const verified = await apply("applicant-1", { metadata, locale: "en" });
  if (options.inBrowser) await verifyInBrowser(verified.link);
  else await submit(cast.sandboxUrl, verified.link, { outcome: "approved" });
  const completed = await cast.expectWebhook("KYC_COMPLETED", verified.id);
  expect(
    completed.body["verdict"] === "APPROVED" &&
      completed.body["external_id"] === "applicant-1" &&
      JSON.stringify(completed.body["metadata"]) === JSON.stringify(metadata),
    "it says APPROVED, with the business's own external_id and metadata",
  );
  say(`   ${JSON.stringify(completed.body)}`);

  step("A second one shows a document that has expired.");
  const rejected = await apply("applicant-2");
  await submit(cast.sandboxUrl, rejected.link, { outcome: "approved", document_expiry: "2020-01-31" });
  const refusal = await cast.expectWebhook("KYC_REJECTED", rejected.id);
  const reasons = refusal.body["reason_codes"] as { code: string }[];
  expect(
    refusal.body["verdict"] === "REJECTED" && reasons.some(({ code }) => code === "DOCUMENT_EXPIRED"),
    "it says REJECTED, because DOCUMENT_EXPIRED",
  );

  step("A third one may be on a sanctions list.");
  const reviewed = await apply("applicant-3");
  await submit(cast.sandboxUrl, reviewed.link, { outcome: "approved", aml_hit_count: 1 });
  const open = await cast.expectWebhook("KYC_NEEDS_REVIEW", reviewed.id);
  expect(
    open.body["verdict"] === "NEEDS_REVIEW" && open.body["aml_hit_count"] === 1,
    "it says NEEDS_REVIEW, although the provider approved: a possible match is never cleared by itself",
  );
  const own = business.kycApplications.review(reviewed.id, { outcome: "APPROVED", note: "." });
  await expectRefusal(own, 403, "admin_required", "the business may not decide it itself: 403 admin_required");
  const decided = await operator.kycApplications.review(reviewed.id, { outcome: "APPROVED", note: reviewNote });
  expectAnswer(decided, { verdict: "APPROVED" }, "a compliance officer approves, with a note for the audit trail");
  const resolved = await cast.expectWebhook("KYC_REVIEW_RESOLVED", reviewed.id);
  expect(resolved.body["verdict"] === "APPROVED", "it carries the final verdict");

  async function apply(externalId: string, more: CreateKycApplicationBody = {}) {
    const answer = await business.kycApplications.create({ external_id: externalId, ...more });
    expectAnswer(answer, { status: "CREATED" }, `${externalId} has an application and a link to hand over`);
    return { id: answer.id, link: answer.link_url };
  }
}
