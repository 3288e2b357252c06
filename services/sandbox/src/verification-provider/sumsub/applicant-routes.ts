import { deactivate, review } from "../application.ts";
import { type ProtocolRoutes, unknownField } from "../protocol-routes.ts";
import type { Provider } from "../provider.ts";
import { amlCaseOf, applicantOf, isInactive, stepsOf } from "./applicant.ts";
import { errorCodes, refuse, refuseField, refuseInactive } from "./errors.ts";

const retryAfterSeconds = "5";
const minuteMs = 60_000;

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

/** Registers the call that reads an AML case. The call has its own rate limit, as at Sumsub. */
export function amlRoutes({ route, ofApplication }: ProtocolRoutes, { config }: Provider): void {
  const acceptedAtMs: number[] = [];
  route(
    "GET",
    "/resources/api/applicants/:id/amlCase",
    "kyc_aml",
    ofApplication((applicant, _request, reply) => {
      // Uses the machine's clock, not the sandbox's clock, because callers wait in real time.
      const nowMs = Date.now();
      while (acceptedAtMs[0] !== undefined && acceptedAtMs[0] <= nowMs - minuteMs) acceptedAtMs.shift();
      if (acceptedAtMs.length >= config.sumsubAmlPerMinute) {
        const waitMs = (acceptedAtMs[0] ?? nowMs) + minuteMs - nowMs;
        reply.header("retry-after", String(Math.ceil(waitMs / 1000)));
        return refuse(reply, 429, "Too many requests");
      }
      acceptedAtMs.push(nowMs);
      return amlCaseOf(applicant) ?? refuse(reply, 404, "AML case not found");
    }),
  );
}
