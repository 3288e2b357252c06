import type { TestBusiness } from "@amana/e2e/test-system";
import type { Random } from "../random.ts";
import { changeAtVendor } from "./change-at-vendor.ts";
import { decideReview } from "./decide-review.ts";
import { canaryName } from "./provider-response.ts";
import { codes } from "./specified.ts";
import type { TestedApplication } from "./tested-application.ts";

const eventTypes = { APPROVED: "KYC_COMPLETED", REJECTED: "KYC_REJECTED", NEEDS_REVIEW: "KYC_NEEDS_REVIEW" } as const;
const verdictEvents: readonly string[] = [...Object.values(eventTypes), "KYC_REVIEW_RESOLVED"];

/**
 * Submits an application and, if the application needs a review, decides it at random. Checks that
 * the API and the webhooks contain the specified result.
 */
export async function checkApplication(application: TestedApplication, random: Random): Promise<void> {
  const { context, id, response, details } = application;
  const { kycProvider, business, report } = context;
  const { expected } = response;
  // At Sumsub, the applicant can submit again on the same link after any number of failed attempts.
  const failures = kycProvider === "sumsub" && random.chance(0.3) ? random.integer(1, 2) : 0;
  for (let i = 0; i < failures; i++) await application.act("submit", { outcome: "failed" });
  if (failures > 0) report.count("applications with failed attempts");
  await application.act("submit", response.submission);

  const webhook = await application.waitForWebhook(...Object.values(eventTypes));
  if (!webhook) return report.violation(details(`no verdict arrived; received: ${receivedEvents(business, id)}`)());
  const view = await application.read();
  report.count(`applications: ${expected}`);
  const reported = [webhook["verdict"], view["verdict"]];
  report.check(
    "API and webhook contain the specified verdict",
    reported.join() === `${expected},${expected}`,
    details(`has ${reported}`),
  );
  if (reported.join() !== `${expected},${expected}`) return;
  checkReasons(application, view["reason_codes"]);
  const isReviewed = expected === "NEEDS_REVIEW";
  const finalVerdict = isReviewed ? await decideReview(application, random) : expected;
  if (kycProvider !== "port" && random.chance(0.5)) await changeAtVendor(application, random);

  const finalView = await application.read();
  report.check(
    "a final verdict does not change",
    finalVerdict === undefined || finalView["verdict"] === finalVerdict,
    details(`has ${finalView["verdict"]}, not ${finalVerdict}`),
  );
  const texts = [JSON.stringify([view, finalView]), ...webhooksOf(business, id).map(({ text }) => text)];
  report.check(
    "the API and webhooks contain no free text of the provider",
    !texts.some((text) => text.includes(canaryName) || text.includes("canary-")),
    details("contains a personal text"),
  );
  const events = webhooksOf(business, id).filter(({ event }) => verdictEvents.includes(event));
  report.check(
    "each verdict has one event",
    new Set(events.map(({ body }) => body["id"])).size === (isReviewed ? 2 : 1),
    details(receivedEvents(business, id)),
  );
}

/** Checks that the API returns each expected reason code with a message, and no unknown code. */
function checkReasons({ response, details, context }: TestedApplication, returned: unknown): void {
  const rows = returned as { code: string; message: string }[];
  const isComplete = response.codes.every((code) => rows.some((reason) => reason.code === code));
  const areKnown = rows.every(({ code, message }) => codes.includes(code as (typeof codes)[number]) && message.length > 0);
  context.report.check(
    "the API returns every known reason code of the response and no unknown code",
    isComplete && areKnown,
    details(`returned ${JSON.stringify(rows)}`),
  );
}

const webhooksOf = ({ receiver }: TestBusiness, id: string) =>
  receiver.received.filter(({ body }) => body["application_id"] === id);
const receivedEvents = (business: TestBusiness, id: string) =>
  webhooksOf(business, id)
    .map(({ event }) => event)
    .join(", ") || "nothing";
