import { describe, expect, test } from "vitest";
import { anApplication } from "../../test/an-application.ts";
import * as didit from "../../test/fixtures/didit.ts";
import * as sumsub from "../../test/fixtures/sumsub.ts";
import { readWorkflow } from "./didit/didit-setup.ts";
import { isApprovedByPerson, readDecision, reviewsMax } from "./didit/read-decision.ts";
import { readApplicant, readReview } from "./sumsub/read-applicant.ts";

/** An object that a vendor can send as JSON. Its conversion to text throws an error. */
const notText = { toString: 1, valueOf: 1 };
const known = anApplication().toKnownApplication();
const readDidit = (changes: object) =>
  readDecision(didit.aDecision({ ...changes }), { ...known, providerId: didit.sessionId }, "live");
const readSumsub = (applicant: object, steps: object = sumsub.someSteps()) => {
  const review = readReview(applicant);
  const responses = { applicant, steps, amlCase: sumsub.anAmlCase() };
  return review && readApplicant(review, responses, { ...known, providerId: sumsub.applicantId }, "amana");
};

describe("readDecision", () => {
  test("readDecision limits the sum of AML hits to 2147483647, the largest integer that the database can store", () => {
    const screening = { status: "Approved", total_hits: 2 ** 31 - 1, hits: [], warnings: [] };
    expect(readDidit({ aml_screenings: [screening, screening] })).toMatchObject({ amlHitCount: 2 ** 31 - 1 });
  });

  test("readDecision lists `other_feature` in `unread` if the decision has a section with an unexpected name", () => {
    const unread = readDidit({ "canary Amine Benali": [{ status: "Declined", warnings: "none" }] })?.unread;
    expect(unread).toEqual(["other_feature"]);
  });

  test.each([
    ["an object with a status", { status: "Approved" }],
    ["an object with warnings", { warnings: [] }],
    ["a list without a status and warnings", [{ score: 1 }]],
    ["a list of null", [null]],
  ])("readDecision lists a section that is %s in `unread`", (_form, poa_verifications) => {
    expect(readDidit({ poa_verifications })?.unread).toEqual(["poa_verifications"]);
  });

  test("readDecision ignores the sections `features`, `tags` and `reviews`, and does not list them in `unread`", () => {
    expect(readDidit({ features: ["OCR"], tags: [], reviews: [{ new_status: "Approved" }] })?.unread).toEqual([]);
  });

  test("readDecision lists `profile` in `unread` if Didit did not receive a field of the profile", () => {
    const decision = didit.aDecision({ expected_details: { first_name: null } });
    const fields = { ...known, providerId: didit.sessionId, profileKeys: ["first_name"] };
    expect(readDecision(decision, fields, "live")?.unread).toEqual(["profile"]);
  });

  test("readDecision lists at most 101 of 5000 sections in `unread`", () => {
    const names = Array.from(
      { length: 5_000 },
      (_item, index) => `x_${index.toString(2).replaceAll("0", "a").replaceAll("1", "b")}`,
    );
    const sections = Object.fromEntries(names.map((name) => [name, [{ status: "Declined" }]]));
    const unread = readDidit(sections)?.unread ?? [];
    expect(unread.length).toBeLessThanOrEqual(101);
    expect(unread).toContain("other_feature");
  });

  test.each(["__proto__", "constructor", "toString", "hasOwnProperty"])(
    "readDecision treats the text %s as an unknown status, risk and liveness method",
    (name) => {
      expect(readDidit({ status: name })).toBeUndefined();
      const fields = JSON.parse(
        `{"liveness_checks": [{"status": "Approved", "method": "${name}", "warnings": [{"risk": "${name}"}]}]}`,
      );
      expect(readDidit(fields)).toMatchObject({ livenessOutcome: "INCONCLUSIVE", unread: ["liveness_checks"] });
    },
  );
});

describe("isApprovedByPerson", () => {
  test("isApprovedByPerson returns false if the time of a status change cannot be read", () => {
    const byRule = didit.aReview({ actor_type: "API_KEY", actor_email: undefined, created_at: {} });
    expect(isApprovedByPerson({ results: [byRule, didit.aReview()] })).toBe(false);
    expect(isApprovedByPerson({ results: [didit.aReview({ created_at: notText }), didit.aReview()] })).toBe(false);
  });

  test("isApprovedByPerson returns false for a full page with the oldest reviews first, because a newer review may be on the next page", () => {
    const page = Array.from({ length: reviewsMax }, (_item, index) =>
      didit.aReview({ created_at: `2026-05-01T10:00:${String(index).padStart(2, "0")}Z` }),
    );
    expect(isApprovedByPerson({ results: page })).toBe(false);
    expect(isApprovedByPerson({ results: page.toReversed() })).toBe(true);
    expect(isApprovedByPerson({ results: page.slice(1) })).toBe(true);
  });

  test("isApprovedByPerson returns false if a rule approved half a second after a person's approval", () => {
    const byPerson = didit.aReview({ created_at: "2026-05-01T10:00:00Z" });
    const byRule = didit.aReview({ actor_type: "API_KEY", actor_email: undefined, created_at: "2026-05-01T10:00:00.500Z" });
    expect(isApprovedByPerson({ results: [byPerson, byRule] })).toBe(false);
  });
});

describe("readWorkflow", () => {
  const problemsOf = (fields: object) => readWorkflow(fields, "W", false).problems.map(({ text }) => text);

  test.each(["OCR + LIVENESS + FACE_MATCH + AML", "ocr,liveness,face_match,aml"])(
    "readWorkflow finds all required features in the text %s",
    (features) => {
      expect(problemsOf({ features }).filter((text) => text.includes("add the feature"))).toEqual([]);
    },
  );

  test('readWorkflow returns one problem for each of two settings with the value "no action"', () => {
    const fields = { expected_details_mismatch_action: "no_action", duplicated_user_action: "NONE" };
    expect(problemsOf(fields).filter((text) => text.includes("is set to no action"))).toHaveLength(2);
  });

  test("readWorkflow returns problems and throws no error for a workflow whose fields are not texts", () => {
    const fields = { features: [{ feature: notText }, notText], face_liveness_method: notText, duplicated_user_action: notText };
    expect(readWorkflow(fields, "W", false).problems.length).toBeGreaterThan(0);
  });
});

describe("readApplicant", () => {
  test("readApplicant lists `reason_codes` in `unread` if a rejection label is unknown or not a text", () => {
    const applicant = sumsub.withReview({
      reviewResult: { reviewAnswer: "RED", reviewRejectType: "FINAL", rejectLabels: [notText, "__proto__"] },
    });
    const steps = sumsub.someSteps({ SELFIE: { reviewResult: { reviewAnswer: "RED" } } });
    expect(readSumsub(applicant, steps)).toMatchObject({ verdict: "REJECTED", unread: ["reason_codes"] });
  });

  test.each(["0000-01-01 00:00:00+0000", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])(
    "readApplicant returns no completion time for the review date %s, which PostgreSQL or the API cannot represent",
    (reviewDate) => {
      expect(readSumsub(sumsub.withReview({ reviewDate }))).toMatchObject({ completedAt: undefined });
    },
  );

  test("readApplicant lists at most 101 of 5000 steps in `unread`", () => {
    const steps = Object.fromEntries(Array.from({ length: 5_000 }, (_item, index) => [`STEP_${index}`, null]));
    const unread = readSumsub(sumsub.anApplicant(), { ...sumsub.someSteps(), ...steps })?.unread ?? [];
    expect(unread.length).toBeLessThanOrEqual(101);
    expect(unread).toContain("other_step");
  });

  test("readApplicant returns no document expiry if the response has more than 100 documents", () => {
    const otherDocument = { idDocType: "PASSPORT" };
    const documents = [{}, ...Array.from({ length: 99 }, () => otherDocument), { validUntil: "2020-01-31" }];
    expect(readSumsub(sumsub.withIdDocs(...documents))).toMatchObject({ documentExpiry: undefined });
  });

  test("readApplicant returns PROFILE_MISMATCH for a name without letters", () => {
    const applicant = sumsub.anApplicant({ fixedInfo: { firstName: "-" }, info: { firstName: "", idDocs: [] } });
    const review = readReview(applicant);
    const responses = { applicant, steps: sumsub.someSteps(), amlCase: sumsub.anAmlCase() };
    const state = review && readApplicant(review, responses, { ...known, profileKeys: ["first_name"] }, "amana");
    expect(state).toMatchObject({ reasonCodes: ["PROFILE_MISMATCH"] });
  });

  test.each(["__proto__", "constructor", "toString"])(
    "readReview treats %s as an unknown review status, and readApplicant treats the same text as an unknown step",
    (name) => {
      expect(readReview(sumsub.withReview({ reviewStatus: name }))).toBeUndefined();
      const steps = { ...sumsub.someSteps(), ...JSON.parse(`{"${name}": {"x": 1}}`) };
      Object.defineProperty(steps, name, { value: {}, enumerable: true });
      expect(readSumsub(sumsub.anApplicant(), steps)).toMatchObject({ unread: ["other_step"] });
    },
  );
});
