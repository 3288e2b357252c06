import { deactivate, review } from "../application.ts";
import { type ProtocolRoutes, unknownField } from "../protocol-routes.ts";
import type { Provider } from "../provider.ts";
import { applicantOf, isInactive, stepsOf } from "./applicant.ts";
import { errorCodes, refuse, refuseField, refuseInactive } from "./errors.ts";

const retryAfterSeconds = "5";

/** Registers the calls that read or change one applicant. */
export function applicantRoutes({ route, ofApplication }: ProtocolRoutes, { applications, clock }: Provider): void {
  route("GET", "/resources/applicants/:id/one", "kyc_get", ofApplication(applicantOf));
  route("GET", "/resources/applicants/-;externalUserId=:reference/one", "kyc_get", ({ params }, reply) => {
    const applicant = applications.byReference(params.reference ?? "");
    return applicant?.dialect === "sumsub" ? applicantOf(applicant) : refuse(reply, 404, "Applicant not found");
  });
  route("GET", "/resources/applicants/:id/requiredIdDocsStatus", "kyc_get", ofApplication(stepsOf));

  route(
    "PATCH",
    "/resources/applicants/:id/presence/deactivated",
    "kyc_cancel",
    ofApplication((applicant, _request, reply) => {
      if (isInactive(applicant)) return refuseInactive(reply);
      if (applicant.pending) return refuse(reply, 409, "Applicant is being checked", errorCodes.beingChecked);
      deactivate(applicant, clock.nowMs());
      applications.save(applicant);
      return applicantOf(applicant);
    }),
  );

  for (const [action, verdict, fields] of [
    ["approve", "APPROVED", []],
    ["reject", "REJECTED", ["note"]],
  ] as const) {
    route(
      "POST",
      `/resources/applicants/:id/-/${action}`,
      "kyc_review",
      ofApplication((applicant, { body }, reply) => {
        const unknown = unknownField(body, fields);
        if (unknown) return refuseField(reply, unknown, "Unknown field");
        if (isInactive(applicant)) return refuseInactive(reply);
        if (applicant.pending) {
          reply.header("retry-after", retryAfterSeconds);
          return refuse(reply, 409, "Applicant is being checked");
        }
        if (applicant.status !== "COMPLETED") return refuse(reply, 400, "Applicant has not been checked");
        if (verdict === "REJECTED") applicant.isRejectedByApi = true;
        else delete applicant.isRejectedByApi;
        review(applicant, verdict, clock.nowMs());
        applications.save(applicant);
        return { ok: 1 };
      }),
    );
  }
}
