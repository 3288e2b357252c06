import type { DiditSession, DiditStatus } from "./didit-decision.ts";
import type { ImitationResponse } from "./imitation-server.ts";

// Page: https://docs.didit.me/sessions-api/update-status.md (2026-11-28).

/**
 * Status of the response to a request for the status that the session already has. The older
 * version of the page describes status 400. The newer version describes status 200 without a change
 * for "Approved" and "Declined".
 */
export type SameStatusResponse = "400" | "200";

const updatable: readonly DiditStatus[] = ["Approved", "Declined", "In Review", "Kyc Expired", "Abandoned", "Resubmitted"];
const allStatuses = [...updatable, "Not Started", "In Progress", "Awaiting User", "Expired"];
const resubmittable = new Set(
  (
    "OCR OCR_BACK NFC AML FACE LIVENESS FACE_MATCH IP_ANALYSIS AGE_ESTIMATION PROOF_OF_ADDRESS " +
    "PHONE_VERIFICATION EMAIL_VERIFICATION FACE_SEARCH DATABASE_VALIDATION QUESTIONNAIRE DOCUMENT_AI " +
    "KYB_DOCUMENTS ID_VERIFICATION POA PHONE EMAIL KYB_REGISTRY KYB_KEY_PEOPLE KYB"
  ).split(" "),
);

const badRequest = (body: unknown): ImitationResponse => ({ status: 400, body });

function nodesRefusal(session: DiditSession, body: Record<string, unknown>): ImitationResponse | undefined {
  const nodes = body["nodes_to_resubmit"];
  if (nodes === undefined) {
    const isNothingToResubmit = session.warnings.length === 0 && session.status !== "Abandoned";
    return isNothingToResubmit
      ? badRequest({ nodes_to_resubmit: "No features found that need resubmission. All features are already approved." })
      : undefined;
  }
  const features = (Array.isArray(nodes) ? nodes : []).map((node) => String((node as { feature?: unknown }).feature));
  const unknown = features.find((feature) => !resubmittable.has(feature));
  if (unknown !== undefined) return badRequest({ nodes_to_resubmit: [{ feature: [`"${unknown}" is not a valid choice.`] }] });
  const parents = features.filter((feature) => ["KYB_REGISTRY", "KYB_KEY_PEOPLE", "KYB"].includes(feature));
  if (parents.length === 0) return undefined;
  const text = `The following features cannot be resubmitted directly: ${parents.join(", ")}. `;
  return badRequest({
    nodes_to_resubmit: `${text}Resubmit the relevant child KYC sessions instead; the parent will recompute automatically.`,
  });
}

/**
 * Validates a request that changes a session's status. Returns a response if the request is
 * rejected or has no effect.
 */
export function statusRefusal(
  session: DiditSession,
  body: Record<string, unknown>,
  sameStatus: SameStatusResponse,
): ImitationResponse | undefined {
  // Didit checks the current status before it validates the body.
  if (!updatable.includes(session.status)) {
    const text = `Only sessions with status ${updatable.join(", ")} can be updated. Current status: ${session.status}`;
    return badRequest({ detail: text });
  }
  const status = body["new_status"];
  if (status === undefined) return badRequest({ new_status: ["This field is required."] });
  if (!allStatuses.includes(String(status))) return badRequest({ new_status: [`"${status}" is not a valid choice.`] });
  if (status !== "Approved" && status !== "Declined" && status !== "Resubmitted")
    return badRequest({ new_status: ["You can only update the status to 'Approved', 'Declined', or 'Resubmitted'."] });
  if (body["send_email"] === true && !body["email_address"])
    return badRequest({ email_address: ["Email address is required when send_email is true."] });
  if (status === session.status)
    return sameStatus === "200" && status !== "Resubmitted"
      ? { status: 200, body: { session_id: session.sessionId } }
      : badRequest(["The new status is the same as the current status."]);
  return status === "Resubmitted" ? nodesRefusal(session, body) : undefined;
}
