import { type ApiResponse, apiCaller } from "@amana/dev-env/demo/api";
import { actOnApplication, submitApplication } from "@amana/dev-env/demo/sandbox-control";
import type { KycProvider } from "@amana/dev-env/services";
import type { RefundContext } from "../refunds/request-refunds.ts";
import type { MatrixSystem } from "./matrix-system.ts";
import { createRepeater, readUntil } from "./repeat-request.ts";
import type { VerificationEnd } from "./schedule.ts";

const path = "/api/v1/kyc/applications";

/** Expected result of a verification in the API, in the events and at the client. */
interface ExpectedResult {
  readonly status: string;
  readonly verdict: string | undefined;
  readonly clientStatus: string;
  readonly events: readonly string[];
}

const approved: ExpectedResult = {
  status: "COMPLETED",
  verdict: "APPROVED",
  clientStatus: "VALIDATED",
  events: ["KYC_COMPLETED"],
};
const rejected: ExpectedResult = { ...approved, verdict: "REJECTED", clientStatus: "DECLINED", events: ["KYC_REJECTED"] };
const reviewEvents = ["KYC_NEEDS_REVIEW", "KYC_REVIEW_RESOLVED"];

/** The applicant's submissions and the expected result for each end of a verification. */
const scenarios: Readonly<Record<VerificationEnd, { submissions: readonly object[]; expected: ExpectedResult }>> = {
  approved: { submissions: [{ outcome: "approved" }], expected: approved },
  rejected: { submissions: [{ outcome: "rejected" }], expected: rejected },
  reviewed: { submissions: [{ outcome: "needs_review" }], expected: { ...approved, events: reviewEvents } },
  canceled: {
    submissions: [],
    expected: { status: "CANCELED", verdict: undefined, clientStatus: "ABORTED", events: ["KYC_CANCELED"] },
  },
  retried: { submissions: [{ outcome: "failed" }, { outcome: "approved" }], expected: approved },
  // A verdict is final. A later verdict of the vendor only causes an alert.
  reversed: { submissions: [{ outcome: "approved" }], expected: approved },
  vendor_reviewed: { submissions: [{ outcome: "needs_review" }], expected: { ...approved, events: reviewEvents } },
};

/**
 * At Sumsub, only a rejection ends a review, because an approval does not prove that a person
 * decided.
 */
const scenarioOf = (end: VerificationEnd, provider: KycProvider) =>
  end === "vendor_reviewed" && provider === "sumsub"
    ? { ...scenarios[end], expected: { ...rejected, events: reviewEvents } }
    : scenarios[end];

export interface FinishedVerification {
  readonly id: string;
  readonly end: VerificationEnd;
  readonly expected: ExpectedResult;
  readonly clientId: string | undefined;
  readonly createdAt: string;
}

/**
 * Runs a verification to its end and repeats each request until it succeeds. Returns undefined
 * after the context's signal was aborted.
 */
export async function runVerification(
  context: RefundContext,
  { end, clientId, kycProvider }: { end: VerificationEnd; clientId: string | undefined; kycProvider: KycProvider },
): Promise<FinishedVerification | undefined> {
  const { system, apiKey } = context;
  const repeat = createRepeater(context);
  const created = await repeat(apiKey, path, clientId ? { client_id: clientId } : {}, ({ status }) => status === 201);
  if (!created) return undefined;
  const id = String(created["id"]);
  const link = String(created["link_url"]);
  const { submissions, expected } = scenarioOf(end, kycProvider);
  for (const submission of submissions) await submitApplication(system.sandboxUrl, link, submission);
  const isFinished = await endApplication();
  return isFinished ? { id, end, expected, clientId, createdAt: String(created["created_at"]) } : undefined;

  async function endApplication(): Promise<boolean> {
    // If only the response was lost, the repeated request returns kyc_application_final.
    const isDone = ({ status, body }: ApiResponse) => status === 200 || body["code"] === "kyc_application_final";
    const decision = { outcome: "APPROVED", note: "Another person." };
    switch (end) {
      case "canceled":
        return (await repeat(apiKey, `${path}/${id}/cancel`, {}, isDone)) !== undefined;
      case "reviewed":
        return (await repeat(system.adminKey, `${path}/${id}/review`, decision, isDone)) !== undefined;
      case "reversed":
        return await actAfterVerdict("APPROVED", "reverse", "rejected");
      case "vendor_reviewed":
        return await actAfterVerdict("NEEDS_REVIEW", "review", String(expected.verdict));
      default:
        return true;
    }
  }

  /** Waits until the application has this verdict, and then simulates an action of the vendor. */
  async function actAfterVerdict(verdict: string, action: string, outcome: string): Promise<boolean> {
    const view = await readUntil(context, apiKey, `${path}/${id}`, (body) => body["verdict"] === verdict);
    if (view) await actOnApplication(system.sandboxUrl, link, action, { outcome });
    return view !== undefined;
  }
}

/** Returns the differences between a verification and its expected result. */
export async function findVerificationViolations(
  { identity }: MatrixSystem["databases"],
  { gatewayUrl, apiKey }: RefundContext,
  { id, end, expected: result }: FinishedVerification,
  published: readonly string[],
): Promise<string[]> {
  const { status, verdict, events } = result;
  const call = apiCaller(gatewayUrl(), apiKey);
  const { body } = await call("GET", `${path}/${id}`);
  const problems: string[] = [];
  const check = (name: string, actual: unknown, expected: unknown) => {
    if (JSON.stringify(actual) !== JSON.stringify(expected))
      problems.push(`application ${id}, ${end}: ${name} ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`);
  };
  check("status and verdict", [body["status"], body["verdict"]], [status, verdict]);
  check("events", published.toSorted(), events);
  if (end === "reviewed") {
    const auditRows = await identity.query("select 1 from audit_event where entity_id = $1 and action = $2", [
      id,
      "kyc_application.reviewed",
    ]);
    check("audit events of its review", auditRows.rowCount, 1);
  }
  return problems;
}

/**
 * Checks that the client has the result of the verification that was created last, even if another
 * verification ended after it.
 */
export async function findClientViolations(
  { gatewayUrl, apiKey }: RefundContext,
  clientId: string,
  verifications: readonly FinishedVerification[],
): Promise<string[]> {
  const sortKeyOf = ({ createdAt, id }: FinishedVerification) => `${createdAt} ${id}`;
  const [newest] = verifications
    .filter((verification) => verification.clientId === clientId)
    .sort((a, b) => (sortKeyOf(a) < sortKeyOf(b) ? 1 : -1));
  if (!newest) return [];
  const { body } = await apiCaller(gatewayUrl(), apiKey)("GET", `/api/v1/clients/${clientId}`);
  const expected = newest.expected.clientStatus;
  if (body["kyc_status"] === expected) return [];
  return [
    `client ${clientId}: has status ${body["kyc_status"]}, expected ${expected} after application ${newest.id}, ${newest.end}`,
  ];
}
