import { isObject, isText, isWebAddress, isWholeNumber } from "../../checks.ts";
import { renewLink } from "../application.ts";
import { type ProtocolRoutes, unknownField } from "../protocol-routes.ts";
import type { Provider } from "../provider.ts";
import { isInactive } from "./applicant.ts";
import { refuse, refuseField, refuseInactive } from "./errors.ts";

const linkFields = ["levelName", "userId", "ttlInSecs", "redirect"];
const redirectFields = ["successUrl", "rejectUrl", "signKey"];
const ttlSecondsMax = 366 * 86_400;

/**
 * Registers the route that creates a link
 * (docs.sumsub.com/reference/generate-websdk-external-link).
 */
export function linkRoutes({ route }: ProtocolRoutes, provider: Provider): void {
  const { applications, clock } = provider;
  route("POST", "/resources/sdkIntegrations/levels/-/websdkLink", "kyc_link", ({ body }, reply) => {
    const unknown = unknownField(body, linkFields) ?? unknownField(body?.["redirect"], redirectFields);
    if (unknown) return refuseField(reply, unknown, "Unknown field");
    const { levelName, userId, ttlInSecs, redirect = {} } = body ?? {};
    const applicant = isText(userId) ? applications.byReference(userId) : undefined;
    if (applicant?.dialect !== "sumsub" || applicant.vendor?.workflowOrLevel !== levelName)
      return refuse(reply, 404, "Applicant not found");
    if (isInactive(applicant)) return refuseInactive(reply);
    if (!isWholeNumber(ttlInSecs, 1, ttlSecondsMax)) return refuseField(reply, "ttlInSecs", `Must be from 1 to ${ttlSecondsMax}`);
    const successUrl = isObject(redirect) ? redirect["successUrl"] : undefined;
    if (successUrl !== undefined && !isWebAddress(successUrl)) return refuseField(reply, "successUrl", "Must be a URL");
    renewLink(applicant, clock.nowMs() + ttlInSecs * 1_000, successUrl);
    applications.save(applicant);
    return { url: `${provider.publicUrl()}/verify/${applications.addLink(applicant)}` };
  });
}
