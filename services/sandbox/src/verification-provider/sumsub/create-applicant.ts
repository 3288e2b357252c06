import { randomBytes } from "node:crypto";
import { parseLanguage } from "@amana/pages";
import { isObject, isText } from "../../checks.ts";
import { addPendingCallback } from "../application.ts";
import { newApplication } from "../create-application.ts";
import { digestProfile } from "../profile.ts";
import { type ProtocolRoutes, unknownField } from "../protocol-routes.ts";
import type { Provider } from "../provider.ts";
import { documentTypes } from "../vocabulary.ts";
import { applicantOf } from "./applicant.ts";
import { errorCodes, refuse, refuseField } from "./errors.ts";

/** Sumsub does not limit the attempts of an applicant. */
const attemptsMax = Number.MAX_SAFE_INTEGER;
/**
 * Initial lifetime of an applicant. The first request for a link replaces it with the link's
 * lifetime.
 */
const lifetimeMs = 10 * 365 * 86_400_000;
const creationFields = ["externalUserId", "lang", "email", "phone", "fixedInfo"];
const infoFields = ["firstName", "lastName", "dob", "gender", "nationality"];

/** Registers the route that creates an applicant (docs.sumsub.com/reference/create-applicants). */
export function creationRoutes({ route }: ProtocolRoutes, { applications, clock, config }: Provider): void {
  route("POST", "/resources/applicants", "kyc_create", ({ body, query }, reply) => {
    const unknown = unknownField(body, creationFields) ?? unknownField(body?.["fixedInfo"], infoFields);
    if (unknown) return refuseField(reply, unknown, "Unknown field");
    const { externalUserId: reference, lang, fixedInfo = {} } = body ?? {};
    const levelName = query["levelName"] ?? "";
    const level = config.sumsubLevels[levelName];
    if (!level) return refuse(reply, 400, `Level '${levelName}' not found`);
    if (!isText(reference) || reference === "") return refuseField(reply, "externalUserId", "Required");
    if (!isObject(fixedInfo)) return refuseField(reply, "fixedInfo", "Must be an object");
    const known = applications.byReference(reference);
    if (known) {
      const description = `Applicant with external user id '${reference}' already exists: ${known.providerId}`;
      return refuse(reply, 409, description, errorCodes.applicantExists);
    }
    const { firstName: first_name, lastName: last_name, dob: birth_date } = fixedInfo;
    const applicant = newApplication({
      dialect: "sumsub",
      vendor: { workflowOrLevel: levelName, profileNames: Object.keys(fixedInfo), reviews: [] },
      reference,
      language: parseLanguage(lang) ?? "en",
      providerId: randomBytes(12).toString("hex"),
      callbackUrl: "",
      allowedDocuments: documentTypes.filter((type) => level.types.includes(type.toUpperCase())),
      attemptsMax,
      requireVideo: !level.isStill,
      linkExpiresAtMs: clock.nowMs() + lifetimeMs,
      profile: digestProfile({ first_name, last_name, birth_date }),
    });
    addPendingCallback(applicant, "created", clock.nowMs());
    applications.save(applicant);
    reply.code(201);
    return applicantOf(applicant);
  });
}
