import { apiCaller } from "@amana/dev-env/demo/api";
import { sandbox, type TestBusiness, type TestSystem } from "@amana/e2e/test-system";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";
import { someAnswer, someTerms } from "./random-answer.ts";
import { codes, objectOf, specifiedVerdict, type Verdict } from "./specified.ts";

const path = "/api/v1/kyc/applications";
const kinds = { APPROVED: "KYC_COMPLETED", REJECTED: "KYC_REJECTED", NEEDS_REVIEW: "KYC_NEEDS_REVIEW" } as const;
const outcomes = { APPROVED: "approved", REJECTED: "rejected", NEEDS_REVIEW: "needs_review" } as const;
/** What only a provider that says too much would say. */
const name = "Canary Applicant";
const webhookMs = 120_000;
/** A document is never so near its last day that the day may pass meanwhile. */
const sparedDays = 2;

export interface Stage {
  readonly running: TestSystem;
  readonly business: TestBusiness;
  readonly report: Report;
}

/**
 * One application, answered at random, and in review decided at random: the API and the webhooks
 * say what is specified.
 */
export async function followOne({ running, business, report }: Stage, random: Random): Promise<void> {
  const { system } = running;
  const asked = someTerms(random);
  const row = someAnswer(random, asked, Date.now(), sparedDays);
  const expected = specifiedVerdict(row, asked.requireVideo);
  const created = await business.call("POST", path, {
    require_video: asked.requireVideo,
    allowed_documents: asked.allowedDocuments,
  });
  if (created.status !== 201) return report.violation(`a creation answered ${created.status}: ${created.text}`);
  const id = String(created.body["id"]);
  const onLink = (action: string, body: object) =>
    sandbox(system, "POST", `/sandbox/kyc/${String(created.body["link_url"]).split("/").at(-1)}/${action}`, body);

  const answer = { ...nulled(row.fields), ...talkative(random, row.fields) };
  await onLink("submit", { outcome: outcomes[expected], hold_seconds: 0, answer });
  const details = (more: string) => () => `${JSON.stringify({ id, ...asked, answer })} ${more}`;

  const webhook = await business.receiver.next(kinds[expected], id, webhookMs);
  if (!webhook) return report.violation(details(`was not told as ${kinds[expected]}; told: ${told(business, id)}`)());
  const view = await business.call("GET", `${path}/${id}`);
  report.count(`applications: ${expected}`);
  const verdictsTold = [webhook.body["verdict"], view.body["verdict"]];
  report.check("verdict in API and webhook", verdictsTold.join() === `${expected},${expected}`, details(`is ${verdictsTold}`));
  checkReasons(report, row.fields, view.body["reason_codes"], details);
  if (expected === "NEEDS_REVIEW")
    await decide({ running, business, report }, random, id, row.fields["verdict"], onLink, details);

  const last = await business.call("GET", `${path}/${id}`);
  const all = [view.text, last.text, ...ofOne(business, id).map(({ text }) => text)];
  report.check("no text of the provider", !all.some((text) => text.includes(name)), details("says more than it may"));
  const verdictEvents = new Set(ofOne(business, id).map(({ body }) => body["id"])).size;
  report.check(
    "one event for each verdict",
    verdictEvents === (expected === "NEEDS_REVIEW" ? 2 : 1),
    details(told(business, id)),
  );
}

/**
 * A person decides: our operator, or the provider's where it awaits a decision. Final, whatever the
 * evidence.
 */
async function decide(
  { running, business, report }: Stage,
  random: Random,
  id: string,
  said: unknown,
  onLink: (action: string, body: object) => Promise<unknown>,
  details: (more: string) => () => string,
): Promise<void> {
  const { system } = running;
  const outcome: Verdict = random.pick(["APPROVED", "REJECTED"]);
  if (said === "NEEDS_REVIEW" && random.chance(0.8)) {
    await onLink("review", { outcome });
    report.count("reviews decided at the provider");
  } else {
    const operator = apiCaller(system.gatewayUrl, system.adminKey);
    const answer = await operator("POST", `${path}/${id}/review`, { outcome, note: "seen" });
    report.check("an operator may decide", answer.status === 200, details(`is not decided: ${answer.text}`));
    report.count("reviews decided by an operator");
  }
  const resolved = await business.receiver.next("KYC_REVIEW_RESOLVED", id, webhookMs);
  const verdict = resolved?.body["verdict"];
  const { body } = await business.call("GET", `${path}/${id}`);
  report.check(
    "a person's decision",
    verdict === outcome && body["verdict"] === outcome,
    details(`is ${verdict}, not ${outcome}`),
  );
}

/**
 * The codes that we know are all shown, nothing else than known codes is, and each with words of
 * ours.
 */
function checkReasons(
  report: Report,
  { reason_codes: given }: Readonly<Record<string, unknown>>,
  shown: unknown,
  details: (more: string) => () => string,
): void {
  const rows = shown as { code: string; message: string }[];
  const said = Array.isArray(given) ? given.slice(0, 20).map((reason) => (reason as { code?: unknown } | null)?.code) : [];
  const known = codes.filter((code) => said.includes(code));
  const isWhole = known.every((code) => rows.some((reason) => reason.code === code));
  const isOurs = rows.every(({ code, message }) => codes.includes(code as (typeof codes)[number]) && message.length > 0);
  report.check("reasons", isWhole && isOurs, details(`shows ${JSON.stringify(rows)}`));
}

/** The sandbox takes a field away where it is null. */
const nulled = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.keys(fields).map((field) => [field, objectOf(fields)[field] ?? null]));

/** A name in every free text and in fields that nobody asked for. */
function talkative(random: Random, { reason_codes: given }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (random.chance(0.3)) return {};
  const reasons = Array.isArray(given)
    ? { reason_codes: given.map((reason) => (isNamed(reason) ? { ...reason, message: name, applicant: name } : reason)) }
    : {};
  return { decision_summary: `${name} was seen`, error_message: name, first_name: name, nationality: name, ...reasons };
}

const isNamed = (reason: unknown): reason is { code: unknown } =>
  typeof reason === "object" && reason !== null && !Array.isArray(reason);

const ofOne = ({ receiver }: TestBusiness, id: string) => receiver.received.filter(({ body }) => body["application_id"] === id);
const told = (business: TestBusiness, id: string) =>
  ofOne(business, id)
    .map(({ event }) => event)
    .join(", ") || "nothing";
