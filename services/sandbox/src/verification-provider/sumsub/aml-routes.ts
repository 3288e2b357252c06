import type { ProtocolRoutes } from "../protocol-routes.ts";
import type { Provider } from "../provider.ts";
import { amlCaseOf } from "./applicant.ts";
import { refuse } from "./errors.ts";

const minuteMs = 60_000;

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
