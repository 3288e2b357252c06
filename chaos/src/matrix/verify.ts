import { type Answer, apiCaller } from "@amana/dev-env/demo/api";
import { submit } from "@amana/dev-env/demo/at-the-sandbox";
import type { RefundContext } from "../refunds/request-refunds.ts";
import type { MatrixSystem } from "./matrix-system.ts";
import { createRepeater } from "./repeat-request.ts";
import type { VerificationEnd } from "./schedule.ts";

const path = "/api/v1/kyc/applications";

/** Expected results by the end of the verification. */
const expectedResults: Readonly<
  Record<
    VerificationEnd,
    { submission: object | undefined; status: string; verdict: string | undefined; clientStatus: string; events: string[] }
  >
> = {
  approved: {
    submission: { outcome: "approved" },
    status: "COMPLETED",
    verdict: "APPROVED",
    clientStatus: "VALIDATED",
    events: ["KYC_COMPLETED"],
  },
  rejected: {
    submission: { outcome: "rejected" },
    status: "COMPLETED",
    verdict: "REJECTED",
    clientStatus: "DECLINED",
    events: ["KYC_REJECTED"],
  },
  reviewed: {
    submission: { outcome: "needs_review" },
    status: "COMPLETED",
    verdict: "APPROVED",
    clientStatus: "VALIDATED",
    events: ["KYC_NEEDS_REVIEW", "KYC_REVIEW_RESOLVED"],
  },
  canceled: {
    submission: undefined,
    status: "CANCELED",
    verdict: undefined,
    clientStatus: "ABORTED",
    events: ["KYC_CANCELED"],
  },
};

export interface FinishedVerification {
  readonly id: string;
  readonly end: VerificationEnd;
  readonly clientId: string | undefined;
  readonly createdAt: string;
}

/**
 * Runs a verification to its end and repeats each request until it succeeds. Returns undefined
 * after the signal of the context.
 */
export async function verify(
  context: RefundContext,
  { end, clientId }: { end: VerificationEnd; clientId: string | undefined },
): Promise<FinishedVerification | undefined> {
  const { system, apiKey } = context;
  const repeat = createRepeater(context);
  const created = await repeat(apiKey, path, clientId ? { client_id: clientId } : {}, ({ status }) => status === 201);
  if (!created) return undefined;
  const id = String(created["id"]);
  const { submission } = expectedResults[end];
  if (submission) await submit(system.sandboxUrl, String(created["link_url"]), submission);
  // If the first response was lost, the repeated request returns the code of a final application.
  const isDone = ({ status, body }: Answer) => status === 200 || body["code"] === "kyc_application_final";
  const finished =
    end === "canceled"
      ? await repeat(apiKey, `${path}/${id}/cancel`, {}, isDone)
      : end === "reviewed"
        ? await repeat(system.adminKey, `${path}/${id}/review`, { outcome: "APPROVED", note: "Another person." }, isDone)
        : created;
  return finished && { id, end, clientId, createdAt: String(created["created_at"]) };
}

/** Returns the differences between an application and its expected result. */
export async function findVerificationViolations(
  { identity }: MatrixSystem["databases"],
  { gatewayUrl, apiKey }: RefundContext,
  { id, end }: FinishedVerification,
  published: readonly string[],
): Promise<string[]> {
  const { status, verdict, events } = expectedResults[end];
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
 * Checks that the client has the result of the newest verification, independent of the order in
 * which the verifications ended.
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
  const expected = expectedResults[newest.end].clientStatus;
  if (body["kyc_status"] === expected) return [];
  return [
    `client ${clientId}: has status ${body["kyc_status"]}, expected ${expected} after application ${newest.id}, ${newest.end}`,
  ];
}
