import { type DiditReview, type DiditSession, sessionRow } from "./didit-decision.ts";
import type { ImitationResponse, ReceivedRequest } from "./imitation-server.ts";

/**
 * Returns the entries of `GET /v3/sessions/`, newest first, or an error response if the query is
 * invalid. Page: https://docs.didit.me/sessions-api/list-sessions (2026-11-28).
 */
export function listSessions(
  sessions: readonly DiditSession[],
  { query }: ReceivedRequest,
): Record<string, unknown>[] | ImitationResponse {
  const kind = query.get("session_kind")?.toLowerCase() ?? "user";
  if (!["user", "business", "all"].includes(kind))
    return { status: 400, body: { session_kind: 'Must be "user", "business", or "all".' } };
  const matchesFilter = (name: string, value: string) => query.get(name)?.split(",").includes(value) ?? true;
  const rows = sessions.filter(
    (session) =>
      !session.deleted &&
      kind !== "business" &&
      matchesFilter("status", session.status) &&
      matchesFilter("workflow_id", session.workflowId) &&
      (query.get("vendor_data") ?? session.vendorData) === session.vendorData &&
      [session.sessionId, session.vendorData].includes(query.get("search") ?? session.sessionId),
  );
  return rows.reverse().map(sessionRow);
}

/**
 * Returns an entry in the list of a session's reviews. Page:
 * https://docs.didit.me/management-api/sessions/list-reviews (2026-11-28).
 */
export const reviewBody = (review: DiditReview) => ({
  uuid: review.uuid,
  activity_type: "STATUS_UPDATED",
  actor_display: review.actor,
  actor_email: review.actorType === "CONSOLE_USER" ? review.actor : null,
  actor_type: review.actorType,
  new_status: review.newStatus,
  previous_status: review.previousStatus,
  comment: review.comment,
  mentioned_emails: [],
  previous_value: review.newStatus === null ? null : { status: review.previousStatus },
  new_value: review.newStatus === null ? null : { status: review.newStatus },
  changed_fields: review.newStatus === null ? [] : ["status"],
  metadata: null,
  created_at: review.createdAt,
});
