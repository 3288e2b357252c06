import { type Answer, apiCaller } from "@amana/dev-env/demo/api";
import { submit } from "@amana/dev-env/demo/at-the-sandbox";
import type { Scene } from "../refunds/ask-for-refunds.ts";
import { insistOf } from "./insist.ts";
import type { VerificationEnd } from "./schedule.ts";
import type { Stage } from "./stage.ts";

const path = "/api/v1/kyc/applications";

/** What each end comes to. */
const endings: Readonly<
  Record<
    VerificationEnd,
    { submission: object | undefined; status: string; verdict: string | undefined; ofClient: string; events: string[] }
  >
> = {
  approved: {
    submission: { outcome: "approved" },
    status: "COMPLETED",
    verdict: "APPROVED",
    ofClient: "VALIDATED",
    events: ["KYC_COMPLETED"],
  },
  rejected: {
    submission: { outcome: "rejected" },
    status: "COMPLETED",
    verdict: "REJECTED",
    ofClient: "DECLINED",
    events: ["KYC_REJECTED"],
  },
  reviewed: {
    submission: { outcome: "needs_review" },
    status: "COMPLETED",
    verdict: "APPROVED",
    ofClient: "VALIDATED",
    events: ["KYC_NEEDS_REVIEW", "KYC_REVIEW_RESOLVED"],
  },
  canceled: {
    submission: undefined,
    status: "CANCELED",
    verdict: undefined,
    ofClient: "ABORTED",
    events: ["KYC_CANCELED"],
  },
};

export interface Verified {
  readonly id: string;
  readonly end: VerificationEnd;
  readonly clientId: string | undefined;
  readonly createdAt: string;
}

/** One verification to its end, each request until it is answered; undefined: not in time. */
export async function verify(
  scene: Scene,
  { end, clientId }: { end: VerificationEnd; clientId: string | undefined },
): Promise<Verified | undefined> {
  const { system, apiKey } = scene;
  const insist = insistOf(scene);
  const created = await insist(apiKey, path, clientId ? { client_id: clientId } : {}, ({ status }) => status === 201);
  if (!created) return undefined;
  const id = String(created["id"]);
  const { submission } = endings[end];
  if (submission) await submit(system.sandboxUrl, String(created["link_url"]), submission);
  // Asked again after an answer that was lost it may be done already.
  const isDone = ({ status, body }: Answer) => status === 200 || body["code"] === "kyc_application_final";
  const done =
    end === "canceled"
      ? await insist(apiKey, `${path}/${id}/cancel`, {}, isDone)
      : end === "reviewed"
        ? await insist(system.adminKey, `${path}/${id}/review`, { outcome: "APPROVED", note: "Another person." }, isDone)
        : created;
  return done && { id, end, clientId, createdAt: String(created["created_at"]) };
}

/** What is not as it should be about it, by now. */
export async function whatIsWrongWith(
  { identity }: Stage["databases"],
  { gatewayUrl, apiKey }: Scene,
  { id, end }: Verified,
  told: readonly string[],
): Promise<string[]> {
  const { status, verdict, events } = endings[end];
  const call = apiCaller(gatewayUrl(), apiKey);
  const { body } = await call("GET", `${path}/${id}`);
  const problems: string[] = [];
  const check = (what: string, seen: unknown, wanted: unknown) => {
    if (JSON.stringify(seen) !== JSON.stringify(wanted))
      problems.push(`application ${id}, ${end}: ${what} ${JSON.stringify(seen)}, not ${JSON.stringify(wanted)}`);
  };
  check("is", [body["status"], body["verdict"]], [status, verdict]);
  check("events", told.toSorted(), events);
  if (end === "reviewed") {
    const found = await identity.query("select 1 from audit_event where entity_id = $1 and action = $2", [
      id,
      "kyc_application.reviewed",
    ]);
    check("entries of its review in the audit trail", found.rowCount, 1);
  }
  return problems;
}

/** A client is what the newest of the client's verifications came to, whichever ended last. */
export async function whatIsWrongWithClient(
  { gatewayUrl, apiKey }: Scene,
  clientId: string,
  verifications: readonly Verified[],
): Promise<string[]> {
  const age = ({ createdAt, id }: Verified) => `${createdAt} ${id}`;
  const [newest] = verifications.filter((one) => one.clientId === clientId).sort((a, b) => (age(a) < age(b) ? 1 : -1));
  if (!newest) return [];
  const { body } = await apiCaller(gatewayUrl(), apiKey)("GET", `/api/v1/clients/${clientId}`);
  const wanted = endings[newest.end].ofClient;
  if (body["kyc_status"] === wanted) return [];
  return [`client ${clientId}: is ${body["kyc_status"]}, not ${wanted} as application ${newest.id}, ${newest.end}, says`];
}
