import { randomUUID } from "node:crypto";
import type { CallbackProtocol } from "../callback-protocol.ts";
import { hmacHex } from "../hmac.ts";
import { leakedApplicant } from "../leak.ts";
import { decisionOf } from "./decision.ts";

/** Changes that Didit reports, because they change the status of a session. */
const reportedChanges = ["opened", "completed", "review_resolved", "expired", "resubmitted"];

/** Callbacks of Didit (docs.didit.me/integration/webhooks). */
export const diditCallbacks: CallbackProtocol = {
  bodyOf(application, { type, atMs }) {
    if (!reportedChanges.includes(type)) return undefined;
    const decision = decisionOf(application);
    return {
      event_id: randomUUID(),
      webhook_type: "status.updated",
      // Uses the machine's clock, because receivers compare the timestamp with their clock.
      timestamp: Math.floor(Date.now() / 1000),
      created_at: Math.floor(atMs / 1000),
      environment: "sandbox",
      session_id: application.providerId,
      vendor_data: application.reference,
      workflow_id: application.vendor?.workflowOrLevel,
      status: decision["status"],
      decision,
    };
  },
  secretsOf: ({ diditWebhookSecrets }) => diditWebhookSecrets,
  sign(body, [secret = ""]) {
    const fields = JSON.parse(body) as Record<string, unknown>;
    const { session_id, status, webhook_type, timestamp } = fields;
    return {
      "x-signature": hmacHex(body, secret),
      "x-signature-v2": hmacHex(JSON.stringify(sortKeys(fields)), secret),
      "x-signature-simple": hmacHex(`${timestamp}:${session_id}:${status}:${webhook_type}`, secret),
      "x-timestamp": String(timestamp),
    };
  },
  leak(body, word) {
    const { decision } = body as { decision: object };
    return { ...body, decision: { ...decision, ...leakedApplicant(word) } };
  },
  timeoutMs: 5_000,
  retriesMax: 2,
  isRetried: (status) => status === undefined || status === 404 || status >= 500,
};

/**
 * Sorts the keys of all objects, so that the receiver can rebuild the signed text from parsed JSON.
 */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sortKeys(item)]));
}
