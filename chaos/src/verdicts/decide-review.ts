import { waitUntil } from "@amana/dev-env/eventually";
import { waitForCallbacks } from "../provider-view.ts";
import type { Random } from "../random.ts";
import { applicationsPath, type TestedApplication } from "./tested-application.ts";

type Outcome = "APPROVED" | "REJECTED";

const auditMsMax = 60_000;

/**
 * Decides a review as an operator of Amana, as a person at the provider, or as both at the same
 * time. Checks that one decision is final, whatever the evidence is. Returns the final verdict, or
 * undefined after a violation.
 */
export async function decideReview(application: TestedApplication, random: Random): Promise<Outcome | undefined> {
  const { context, response } = application;
  const { kycProvider, report } = context;
  const outcome: Outcome = random.pick(["APPROVED", "REJECTED"]);
  if (!response.isInReview) return await decideAsOperator(application, outcome);
  if (kycProvider === "port") {
    if (random.chance(0.8)) return await decideAtProvider(application, outcome);
    return await decideAsOperator(application, outcome);
  }
  switch (random.pick(["operator", "person", "program", "both"] as const)) {
    case "operator":
      return await decideAsOperator(application, outcome);
    case "person":
      // At Sumsub, only a rejection ends the review, because an approval does not prove that a
      // person decided.
      return await decideAtProvider(application, kycProvider === "sumsub" ? "REJECTED" : outcome);
    case "program":
      // An approval by the vendor's rules or with an API key is no decision of a person, so it must
      // not end the review.
      await application.act("review", { outcome: "APPROVED", by: random.pick(["api", "system", "note"]) });
      await waitForCallbacks(context.testSystem.system, application.id);
      report.count("approvals without a person");
      return await decideAsOperator(application, "REJECTED");
    case "both":
      return await decideAsBoth(application, outcome);
  }
}

async function decideAtProvider(application: TestedApplication, outcome: Outcome): Promise<Outcome | undefined> {
  await application.act("review", { outcome });
  application.context.report.count("reviews decided at the provider");
  return await checkResolved(application, [outcome], 0);
}

async function decideAsOperator(application: TestedApplication, outcome: Outcome): Promise<Outcome | undefined> {
  const { report } = application.context;
  const isDecided = await sendDecision(application, outcome);
  report.check("an operator can decide a review", isDecided, application.details("is not decided"));
  report.count("reviews decided by an operator");
  return await checkResolved(application, [outcome], 1);
}

/**
 * Sends an operator's decision to Amana and a decision to the vendor at the same time. The earlier
 * decision is final. The response to the operator shows which decision was earlier.
 */
async function decideAsBoth(application: TestedApplication, outcome: Outcome): Promise<Outcome | undefined> {
  const { report } = application.context;
  const [isDecided] = await Promise.all([
    sendDecision(application, outcome),
    // The vendor rejects this decision if the operator's decision arrives first.
    application.act("review", { outcome: "REJECTED" }).catch(() => {}),
  ]);
  report.count("reviews decided by both at the same time");
  return await checkResolved(application, isDecided ? [outcome] : ["REJECTED"], isDecided ? 1 : 0);
}

/** Sends an operator's decision. Returns false if another decision was earlier. */
async function sendDecision({ context, id, repeat }: TestedApplication, outcome: Outcome): Promise<boolean> {
  const { adminKey } = context.testSystem.system;
  const body = { outcome, note: "checked by an operator" };
  const decided = await repeat(
    adminKey,
    `${applicationsPath}/${id}/review`,
    body,
    ({ status, body: { code } }) => status === 200 || code === "kyc_review_not_open",
  );
  return decided?.["id"] === id;
}

/** Checks the final verdict and the number of audit events about the operator's decision. */
async function checkResolved(
  application: TestedApplication,
  outcomes: readonly Outcome[],
  audited: number,
): Promise<Outcome | undefined> {
  const { context, details, id } = application;
  const { report, identity } = context;
  const resolved = await application.waitForWebhook("KYC_REVIEW_RESOLVED");
  const verdict = resolved?.["verdict"] as Outcome | undefined;
  const view = await application.read();
  const isExpected = verdict !== undefined && outcomes.includes(verdict) && view["verdict"] === verdict;
  report.check("a person's decision is final", isExpected, details(`is ${verdict}, not ${outcomes.join(" or ")}`));
  const countAudited = async () => {
    const sql = "select 1 from audit_event where entity_id = $1 and action = 'kyc_application.reviewed'";
    return (await identity.query(sql, [id])).rowCount;
  };
  await waitUntil(async () => (await countAudited()) === audited, auditMsMax);
  const count = await countAudited();
  report.check("an operator's decision is audited once", count === audited, details(`has ${count} audit events`));
  return isExpected ? verdict : undefined;
}
