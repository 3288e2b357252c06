import { describe, expect, test } from "vitest";
import { anApplication } from "../../test/an-application.ts";
import * as didit from "../../test/fixtures/didit.ts";
import * as sumsub from "../../test/fixtures/sumsub.ts";
import { evaluate } from "../kyc-application/evaluate.ts";
import type { DiditConfig } from "./didit/didit-config.ts";
import { createDiditProvider } from "./didit/didit-provider.ts";
import { readDecision } from "./didit/read-decision.ts";
import { readProfileKeys } from "./profile.ts";
import { readApplicant, readReview } from "./sumsub/read-applicant.ts";
import type { SumsubConfig } from "./sumsub/sumsub-config.ts";
import { createSumsubProvider } from "./sumsub/sumsub-provider.ts";
import type { ApplicationToCreate, KnownApplication, VerificationProvider } from "./verification-provider.ts";

const logger = { error: () => {}, warn: () => {}, info: () => {} } as never;
const common = { callbackUrl: "https://api.test/callbacks/kyc", timeoutMs: 1_000, webhookSecrets: ["s"] };
const diditConfig: DiditConfig = {
  ...common,
  url: "https://vendor.test",
  apiKey: "k",
  environment: "live",
  workflowId: "w",
  workflowIdStill: undefined,
  destinationId: undefined,
  uncompared: "refuse",
};
const sumsubConfig: SumsubConfig = {
  ...common,
  url: "https://vendor.test",
  appToken: "prd:t",
  secretKey: "k",
  isSandbox: false,
  video: { both: "amana", id_card: undefined, passport: undefined },
  still: { both: undefined, id_card: undefined, passport: undefined },
  ttlHours: 72,
  ttlHoursMax: 720,
  amlPerMinute: 10,
  webhookId: undefined,
  uncompared: "refuse",
};
const providers: Record<"didit" | "sumsub", (uncompared: "refuse" | "review") => VerificationProvider> = {
  didit: (uncompared) => createDiditProvider({ ...diditConfig, uncompared }, logger),
  sumsub: (uncompared) => createSumsubProvider({ ...sumsubConfig, uncompared }, logger),
};
const names = ["didit", "sumsub"] as const;

const aRequest = (vendor: "didit" | "sumsub", changes: Partial<ApplicationToCreate> = {}): ApplicationToCreate => ({
  reference: didit.reference,
  locale: "fr",
  allowedDocuments: ["id_card", "passport"],
  maxAttempts: vendor === "didit" ? 1 : 3,
  requireVideo: true,
  ttlHours: undefined,
  redirectUrl: "https://shop.test/back",
  applicantEmail: "a@b.test",
  applicantPhone: "+213550000000",
  profile: JSON.stringify({
    first_name: "Amine",
    last_name: "Benali",
    birth_date: "1990-01-01",
    gender: "M",
    nationality: "DZA",
  }),
  ...changes,
});

describe("contract test 13: refusals", () => {
  test.each(names)(
    "the method `refusals` of the %s client returns an empty list for a request with only supported fields",
    (vendor) => {
      expect(providers[vendor]("refuse").refusals(aRequest(vendor))).toEqual([]);
    },
  );

  test.each([
    ["didit", { maxAttempts: 2 }, "/max_attempts"],
    ["didit", { requireVideo: false }, "/require_video"],
    ["didit", { ttlHours: 673 }, "/ttl_hours"],
    ["sumsub", { requireVideo: false }, "/require_video"],
    ["sumsub", { allowedDocuments: ["passport"] }, "/allowed_documents"],
    ["sumsub", { ttlHours: 721 }, "/ttl_hours"],
  ] as const)(
    "the method `refusals` of the %s client, for a request with %j, returns one refusal at %s",
    (vendor, changes, pointer) => {
      const refusals = providers[vendor]("refuse").refusals(aRequest(vendor, changes as Partial<ApplicationToCreate>));
      expect(refusals.map((refusal) => refusal.pointer)).toEqual([pointer]);
    },
  );

  describe.each(names)("%s", (vendor) => {
    test.each([
      [{ first_name: " " }, "/profile/first_name"],
      [{ last_name: 7 }, "/profile/last_name"],
      [{ birth_date: "01/02/1990" }, "/profile/birth_date"],
      [{ gender: "male" }, "/profile/gender"],
      [{ nationality: "DZ" }, "/profile/nationality"],
      [{ "a/b": "x" }, "/profile/a~1b"],
      [{ address: { city: "Alger" } }, "/profile/address"],
    ])(`the method \`refusals\` of the ${vendor} client, for the profile %j, returns one refusal at %s`, (profile, pointer) => {
      const refusals = providers[vendor]("refuse").refusals(aRequest(vendor, { profile: JSON.stringify(profile) }));
      expect(refusals.map((refusal) => refusal.pointer)).toEqual([pointer]);
    });

    test(`the method \`refusals\` of the ${vendor} client with the policy "review" returns an empty list for a profile field that no vendor compares`, () => {
      const profile = JSON.stringify({ address: { city: "Alger" } });
      expect(providers[vendor]("review").refusals(aRequest(vendor, { profile }))).toEqual([]);
      expect(readProfileKeys(profile)).toEqual(["other"]);
    });
  });

  test("the lists of checked fields and sent fields in the contract test together contain every field of ApplicationToCreate", () => {
    const checkedFields = ["maxAttempts", "requireVideo", "ttlHours", "allowedDocuments"];
    const sentFields = ["reference", "locale", "redirectUrl", "applicantEmail", "applicantPhone", "profile"];
    expect(Object.keys(aRequest("didit")).sort()).toEqual([...checkedFields, ...sentFields].sort());
  });
});

type Path = readonly (string | number)[];

/** Returns the paths of all fields of a value, including fields within objects and lists. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const own = path.length > 0 ? [path] : [];
  return [
    ...own,
    ...Object.entries(value).flatMap(([name, item]) => pathsOf(item, [...path, Array.isArray(value) ? Number(name) : name])),
  ];
}

/**
 * Returns a copy of the value in which `replacement` replaces one field. If `replacement` is
 * "absent", the copy lacks the field.
 */
function replaceAt(value: unknown, [name, ...rest]: Path, replacement: unknown): unknown {
  if (name === undefined) return replacement;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>;
  if (rest.length === 0 && replacement === "absent") {
    if (Array.isArray(copy)) copy.splice(Number(name), 1);
    else delete copy[name];
  } else copy[name] = replaceAt(copy[name], rest, replacement);
  return copy;
}

const replacements = ["absent", null, "tomorrow", 7, {}, []];
const terms = { requireVideo: true, allowedDocuments: ["id_card", "passport"] } as const;

describe("contract test 15: evaluate, for a response with one missing or unknown field", () => {
  const known: KnownApplication = { ...anApplication().toKnownApplication(), profileKeys: ["first_name"] };

  /** Fields that kyc does not read, because they are personal data or not evidence. */
  const unreadAtDidit =
    /^(session_number|workflow_id|contact_details|session_url|expected_details\.expected_document_types)|nationality$|canary|\.(document_number|personal_number|first_name|last_name|date_of_birth|mrz|score|video_url|source_image|screened_data(\.full_name)?|ip_address)$|^expected_details\.first_name$|expected_document_types\.\d$/;
  const decision = didit.aDecision();

  test.each(pathsOf(decision).map((path) => [path.join("."), path] as const))(
    "evaluate does not return APPROVED if the field %s of a Didit decision is missing or has an unknown value",
    (name, path) => {
      for (const replacement of replacements) {
        const changed = replaceAt(decision, path, replacement);
        if (JSON.stringify(changed) === JSON.stringify(decision)) continue;
        const state = readDecision(changed, { ...known, providerId: didit.sessionId }, "live");
        const verdict = state && evaluate(state.verdict, state, terms, "2026-05-01").verdict;
        const isMismatch = state && (state.providerId !== didit.sessionId || state.reference !== didit.reference);
        if (unreadAtDidit.test(name) && !(name === "expected_details.first_name" && replacement === "absent")) continue;
        // Skips changes that remove the list `ip_analyses` or its only item. A workflow without IP
        // analysis returns such a decision.
        if (name.startsWith("ip_analyses") && (name === "ip_analyses" || name === "ip_analyses.0")) continue;
        expect([replacement, isMismatch ? "mismatch" : verdict]).not.toEqual([replacement, "APPROVED"]);
      }
    },
  );

  const responses = { applicant: sumsub.anApplicant(), steps: sumsub.someSteps(), amlCase: sumsub.anAmlCase() };
  const unreadAtSumsub =
    /nationality$|attempt|reviewDate$|reviewId$|\.email$|\.dob$|\.number$|idDocs\.\d\.firstName$|imageIds|docSets\.0|hits\.|\.types(\.\d)?$|^steps\.SELFIE\.(idDocType|country)$|applicant\.type$/;

  test.each(pathsOf(responses).map((path) => [path.join("."), path] as const))(
    "evaluate does not return APPROVED if the field %s of a Sumsub applicant is missing or has an unknown value",
    (name, path) => {
      for (const replacement of replacements) {
        const changed = replaceAt(responses, path, replacement) as typeof responses;
        if (JSON.stringify(changed) === JSON.stringify(responses)) continue;
        const review = readReview(changed.applicant);
        const state = review && readApplicant(review, changed, { ...known, providerId: sumsub.applicantId }, "amana");
        const verdict = state && evaluate(state.verdict, state, terms, "2026-05-01").verdict;
        const isMismatch = state && (state.providerId !== sumsub.applicantId || state.reference !== sumsub.reference);
        if (unreadAtSumsub.test(name)) continue;
        expect([replacement, isMismatch ? "mismatch" : verdict]).not.toEqual([replacement, "APPROVED"]);
      }
    },
  );
});
