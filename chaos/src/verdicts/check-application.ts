import { apiCaller } from "@amana/dev-env/demo/api";
import { sandbox, type TestBusiness, type TestSystem } from "@amana/e2e/test-system";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";
import { randomResponse, randomTerms } from "./random-response.ts";
import { codes, computeSpecifiedVerdict, objectOf, type Verdict } from "./specified.ts";

const path = "/api/v1/kyc/applications";
const eventTypes = { APPROVED: "KYC_COMPLETED", REJECTED: "KYC_REJECTED", NEEDS_REVIEW: "KYC_NEEDS_REVIEW" } as const;
const outcomes = { APPROVED: "approved", REJECTED: "rejected", NEEDS_REVIEW: "needs_review" } as const;
/** A personal name that the provider returns and that must not appear in the API. */
const canaryName = "Canary Applicant";
const webhookMs = 120_000;
/** No document expires within this number of days. Midnight may pass during the check. */
const excludedDays = 2;

export interface ApplicationContext {
  readonly testSystem: TestSystem;
  readonly business: TestBusiness;
  readonly report: Report;
}

/**
 * Creates an application with a random provider response, and decides it at random if it is in
 * review. Checks that the API and the webhooks contain the specified result.
 */
export async function checkApplication({ testSystem, business, report }: ApplicationContext, random: Random): Promise<void> {
  const { system } = testSystem;
  const terms = randomTerms(random);
  const row = randomResponse(random, terms, Date.now(), excludedDays);
  const expected = computeSpecifiedVerdict(row, terms.requireVideo);
  const created = await business.call("POST", path, {
    require_video: terms.requireVideo,
    allowed_documents: terms.allowedDocuments,
  });
  if (created.status !== 201) return report.violation(`a creation returned ${created.status}: ${created.text}`);
  const id = String(created.body["id"]);
  const callSandbox = (action: string, body: object) =>
    sandbox(system, "POST", `/sandbox/kyc/${String(created.body["link_url"]).split("/").at(-1)}/${action}`, body);

  const response = { ...replaceAbsentWithNull(row.fields), ...withCanaries(random, row.fields) };
  await callSandbox("submit", { outcome: outcomes[expected], hold_seconds: 0, answer: response });
  const details = (problem: string) => () => `${JSON.stringify({ id, ...terms, response })} ${problem}`;

  const webhook = await business.receiver.next(eventTypes[expected], id, webhookMs);
  if (!webhook) return report.violation(details(`no ${eventTypes[expected]}; received: ${receivedEvents(business, id)}`)());
  const view = await business.call("GET", `${path}/${id}`);
  report.count(`applications: ${expected}`);
  const reported = [webhook.body["verdict"], view.body["verdict"]];
  report.check(
    "API and webhook contain the specified verdict",
    reported.join() === `${expected},${expected}`,
    details(`has ${reported}`),
  );
  checkReasons(report, row.fields, view.body["reason_codes"], details);
  if (expected === "NEEDS_REVIEW")
    await decideReview({ testSystem, business, report }, random, id, row.fields["verdict"], callSandbox, details);

  const finalView = await business.call("GET", `${path}/${id}`);
  const texts = [view.text, finalView.text, ...webhooksOf(business, id).map(({ text }) => text)];
  report.check(
    "the API and webhooks contain no free text of the provider",
    !texts.some((text) => text.includes(canaryName)),
    details(`shows "${canaryName}"`),
  );
  const verdictEvents = new Set(webhooksOf(business, id).map(({ body }) => body["id"])).size;
  report.check(
    "each verdict has one event",
    verdictEvents === (expected === "NEEDS_REVIEW" ? 2 : 1),
    details(receivedEvents(business, id)),
  );
}

/**
 * Decides a review as an operator of Amana, or at the provider if its verdict is NEEDS_REVIEW.
 * Checks that the decision is final, independent of the evidence.
 */
async function decideReview(
  { testSystem, business, report }: ApplicationContext,
  random: Random,
  id: string,
  providerVerdict: unknown,
  callSandbox: (action: string, body: object) => Promise<unknown>,
  details: (problem: string) => () => string,
): Promise<void> {
  const { system } = testSystem;
  const outcome: Verdict = random.pick(["APPROVED", "REJECTED"]);
  if (providerVerdict === "NEEDS_REVIEW" && random.chance(0.8)) {
    await callSandbox("review", { outcome });
    report.count("reviews decided at the provider");
  } else {
    const operator = apiCaller(system.gatewayUrl, system.adminKey);
    const decision = await operator("POST", `${path}/${id}/review`, { outcome, note: "checked by an operator" });
    report.check("an operator can decide a review", decision.status === 200, details(`is not decided: ${decision.text}`));
    report.count("reviews decided by an operator");
  }
  const resolved = await business.receiver.next("KYC_REVIEW_RESOLVED", id, webhookMs);
  const verdict = resolved?.body["verdict"];
  const { body } = await business.call("GET", `${path}/${id}`);
  report.check(
    "a person's decision is final",
    verdict === outcome && body["verdict"] === outcome,
    details(`is ${verdict}, not ${outcome}`),
  );
}

/** Checks that the API returns each known code with a message, and no unknown code. */
function checkReasons(
  report: Report,
  { reason_codes: providerReasons }: Readonly<Record<string, unknown>>,
  returned: unknown,
  details: (problem: string) => () => string,
): void {
  const rows = returned as { code: string; message: string }[];
  const returnedCodes = Array.isArray(providerReasons)
    ? providerReasons.slice(0, 20).map((reason) => (reason as { code?: unknown } | null)?.code)
    : [];
  const knownCodes = codes.filter((code) => returnedCodes.includes(code));
  const isComplete = knownCodes.every((code) => rows.some((reason) => reason.code === code));
  const areKnown = rows.every(({ code, message }) => codes.includes(code as (typeof codes)[number]) && message.length > 0);
  report.check(
    "the API returns all known reason codes and no other",
    isComplete && areKnown,
    details(`shows ${JSON.stringify(rows)}`),
  );
}

/** Replaces absent fields with null, for which the sandbox removes the field. */
const replaceAbsentWithNull = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.keys(fields).map((field) => [field, objectOf(fields)[field] ?? null]));

/** Returns a personal name in every free text and in fields that the service does not request. */
function withCanaries(
  random: Random,
  { reason_codes: providerReasons }: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  if (random.chance(0.3)) return {};
  const reasons = Array.isArray(providerReasons)
    ? {
        reason_codes: providerReasons.map((reason) =>
          isObject(reason) ? { ...reason, message: canaryName, applicant: canaryName } : reason,
        ),
      }
    : {};
  return {
    decision_summary: `${canaryName} was seen`,
    error_message: canaryName,
    first_name: canaryName,
    nationality: canaryName,
    ...reasons,
  };
}

const isObject = (reason: unknown): reason is { code: unknown } =>
  typeof reason === "object" && reason !== null && !Array.isArray(reason);

const webhooksOf = ({ receiver }: TestBusiness, id: string) =>
  receiver.received.filter(({ body }) => body["application_id"] === id);
const receivedEvents = (business: TestBusiness, id: string) =>
  webhooksOf(business, id)
    .map(({ event }) => event)
    .join(", ") || "nothing";
