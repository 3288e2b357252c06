import { isText } from "../../checks.ts";
import { type Application, deleteAtVendor, recordVendorReview, review } from "../application.ts";
import { canary, type VendorReview } from "../dialect.ts";
import { type HandleApplication, type ProtocolRoutes, unknownField } from "../protocol-routes.ts";
import type { Provider } from "../provider.ts";
import { isSession } from "./create-session.ts";
import { decisionOf, sessionStatus } from "./decision.ts";

/** Registers the calls on one session. Each call returns status 404 for a deleted session. */
export function sessionRoutes({ route, ofApplication, refuse, refuseField }: ProtocolRoutes, provider: Provider): void {
  const { applications, clock } = provider;
  const ofSession = (handle: HandleApplication) => ofApplication(handle, isSession);

  route("GET", "/v3/session/:id/decision/", "kyc_get", ofSession(decisionOf));

  route(
    "DELETE",
    "/v3/session/:id/delete/",
    "kyc_cancel",
    ofSession((session, _request, reply) => {
      deleteAtVendor(session, clock.nowMs());
      applications.save(session);
      reply.code(204);
      return {};
    }),
  );

  route(
    "PATCH",
    "/v3/session/:id/update-status/",
    "kyc_review",
    ofSession((session, { body }, reply) => {
      const unknown = unknownField(body, ["new_status", "comment"]);
      if (unknown) return refuseField(reply, unknown, "Unknown field.");
      const { new_status: to, comment } = body ?? {};
      if (to !== "Approved" && to !== "Declined") return refuseField(reply, "new_status", "Not a valid choice.");
      if (comment !== undefined && !isText(comment)) return refuseField(reply, "comment", "Not a valid string.");
      const from = sessionStatus(session);
      if (from === to) {
        reply.code(400);
        // Didit returns this error as a list, without the name of a field.
        return [`The new status is the same as the current status. (${canary("error")})`];
      }
      if (!isDecided(session)) return refuse(reply, 400, "The status of this session cannot be changed.");
      recordVendorReview(session, { actor: "API_KEY", kind: "STATUS_UPDATED", from, to, atMs: clock.nowMs() });
      review(session, to === "Approved" ? "APPROVED" : "REJECTED", clock.nowMs());
      applications.save(session);
      return { session_id: session.providerId };
    }),
  );

  route(
    "GET",
    "/v3/sessions/:id/reviews/",
    "kyc_get",
    ofSession(({ vendor }, { query }) => {
      const reviews = vendor?.reviews ?? [];
      const limit = Number(query["limit"] ?? 20);
      return { count: reviews.length, next: null, previous: null, results: reviews.slice(0, limit).map(activityOf) };
    }),
  );
}

/**
 * Registers the calls that find or delete all sessions of a user. `vendor_data` identifies a user.
 */
export function userRoutes({ route, refuseField }: ProtocolRoutes, { applications, clock }: Provider): void {
  route("GET", "/v3/sessions/", "kyc_get", ({ query }) => {
    const sessions = applications.ofReference(query["vendor_data"] ?? "").filter(isSession);
    const results = sessions.map((session) => ({
      session_id: session.providerId,
      session_kind: "user",
      vendor_data: session.reference,
      workflow_id: session.vendor?.workflowOrLevel,
      status: sessionStatus(session),
    }));
    return { count: results.length, next: null, previous: null, results };
  });

  route("POST", "/v3/users/delete/", "kyc_erase", ({ body }, reply) => {
    const unknown = unknownField(body, ["vendor_data_list"]);
    if (unknown) return refuseField(reply, unknown, "Unknown field.");
    const list = body?.["vendor_data_list"];
    if (!Array.isArray(list) || !list.every(isText)) return refuseField(reply, "vendor_data_list", "Expected a list of strings.");
    const sessions = list.flatMap((reference) => applications.ofReference(reference));
    for (const session of sessions.filter(({ dialect }) => dialect === "didit")) {
      deleteAtVendor(session, clock.nowMs());
      applications.save(session);
    }
    return { deleted: list.length };
  });
}

const isDecided = ({ status }: Application): boolean => status === "COMPLETED" || status === "FAILED";

/**
 * Returns an entry of the session's list of reviews. A note from the API has the actor type
 * CONSOLE_USER, but no e-mail address.
 */
function activityOf({ actor, kind, from, to, atMs }: VendorReview): object {
  const isChange = kind === "STATUS_UPDATED";
  return {
    activity_type: kind,
    actor_type: actor,
    actor_display: canary("reviewer"),
    actor_email: isChange && actor === "CONSOLE_USER" ? `${canary("reviewer")}@vendor.test` : null,
    previous_status: isChange ? from : null,
    new_status: to,
    comment: canary("comment"),
    created_at: new Date(atMs).toISOString(),
  };
}
