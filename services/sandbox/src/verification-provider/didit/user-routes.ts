import { isText } from "../../checks.ts";
import { deleteAtVendor } from "../application.ts";
import { type ProtocolRoutes, unknownField } from "../protocol-routes.ts";
import type { Provider } from "../provider.ts";
import { isSession } from "./create-session.ts";
import { sessionStatus } from "./decision.ts";

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
