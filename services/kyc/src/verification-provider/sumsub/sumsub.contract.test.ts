import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { anApplication } from "../../../test/an-application.ts";
import {
  aHit,
  anAmlCase,
  anApplicant,
  applicantId,
  reference,
  someSteps,
  withIdDocs,
  withReview,
} from "../../../test/fixtures/sumsub.ts";
import { evaluate } from "../../kyc-application/evaluate.ts";
import type { KnownApplication } from "../verification-provider.ts";
import { readApplicant, readReview } from "./read-applicant.ts";
import { readSumsubCallback, signRequest } from "./sumsub-signature.ts";

const known: KnownApplication = { ...anApplication().toKnownApplication(), providerId: applicantId, reference };
const terms = { requireVideo: true, allowedDocuments: ["id_card", "passport"] } as const;

interface Responses {
  readonly applicant?: object;
  readonly steps?: unknown;
  readonly amlCase?: unknown;
}

const read = (responses: Responses = {}, changes: Partial<KnownApplication> = {}) => {
  const all = { applicant: anApplicant(), steps: someSteps(), amlCase: anAmlCase(), ...responses };
  const review = readReview(all.applicant);
  return review && readApplicant(review, all, { ...known, ...changes }, "amana");
};
const evaluateState = (responses: Responses = {}, changes: Partial<KnownApplication> = {}) => {
  const state = read(responses, changes);
  return state && evaluate(state.verdict, state, terms, "2026-05-01");
};

describe("contract test 6: signRequest", () => {
  const token = { appToken: "prd:token", secretKey: "secret" };
  const nowMs = 1_777_000_000_999;
  const hmac = (text: string) => createHmac("sha256", "secret").update(text).digest("hex");
  test.each([
    [
      "a query",
      "POST",
      "https://api.sumsub.com/resources/applicants?levelName=amana",
      "{}",
      "/resources/applicants?levelName=amana{}",
    ],
    [
      "a level with a space",
      "POST",
      "https://api.sumsub.com/resources/applicants?levelName=a%20b",
      "{}",
      "/resources/applicants?levelName=a%20b{}",
    ],
    ["no body", "GET", "https://api.sumsub.com/resources/applicants/1/one", undefined, "/resources/applicants/1/one"],
    ["a prefix of the path", "GET", "https://proxy.test/sumsub/resources/status", undefined, "/sumsub/resources/status"],
  ])("signRequest signs the time, method, encoded path and body of a request with %s", (_name, method, url, body, signed) => {
    expect(signRequest(token, { method, url, body }, nowMs)).toEqual({
      "x-app-token": "prd:token",
      "x-app-access-ts": "1777000000",
      "x-app-access-sig": hmac(`1777000000${method}${signed}`),
    });
  });
});

describe("contract test 8: Sumsub statuses", () => {
  test.each([
    [{ reviewStatus: "pending" }, "SUBMITTED", undefined],
    [{ reviewStatus: "prechecked" }, "PROCESSING", undefined],
    [{ reviewStatus: "queued" }, "PROCESSING", undefined],
    [{ reviewStatus: "awaitingService", reviewResult: { reviewAnswer: "GREEN" } }, "PROCESSING", undefined],
    [{ reviewStatus: "awaitingUser" }, "OPENED", undefined],
    [{ reviewStatus: "onHold", reviewResult: { reviewAnswer: "RED" } }, "COMPLETED", "NEEDS_REVIEW"],
    [{}, "COMPLETED", "APPROVED"],
    [{ reviewResult: { reviewAnswer: "RED", reviewRejectType: "FINAL" } }, "COMPLETED", "REJECTED"],
    [{ reviewResult: { reviewAnswer: "RED", reviewRejectType: "RETRY" } }, "FAILED", undefined],
  ])("readApplicant converts the review %j to the status %s with the verdict %s", (review, status, verdict) => {
    expect(read({ applicant: withReview(review) })).toMatchObject({ status, verdict });
  });

  test.each([
    ["CREATED", { IDENTITY: null, SELFIE: null }, "CREATED"],
    ["CREATED", { IDENTITY: null, SELFIE: null, APPLICANT_DATA: {} }, "CREATED"],
    ["CREATED", someSteps({ SELFIE: null }), "OPENED"],
    ["OPENED", { IDENTITY: null, SELFIE: null }, "OPENED"],
  ] as const)(
    "readApplicant, for a %s application with the review status `init` and the steps %j, returns the status %s",
    (status, steps, expected) => {
      expect(read({ applicant: withReview({ reviewStatus: "init" }), steps }, { status })).toMatchObject({ status: expected });
    },
  );

  test.each([
    { reviewStatus: "tomorrow" },
    { reviewStatus: null },
    { reviewResult: { reviewAnswer: "YELLOW" } },
    { reviewResult: { reviewAnswer: "RED" } },
  ])("readReview returns undefined for the unknown review %j", (review) => {
    expect(read({ applicant: withReview(review) })).toBeUndefined();
  });

  test("readReview returns CANCELED for a deleted applicant", () => {
    expect(read({ applicant: anApplicant({ deleted: true }) })).toMatchObject({ status: "CANCELED" });
  });

  test("readApplicant returns APPROVED for an approved applicant in review only if an operator's approval is pending, and NEEDS_REVIEW otherwise", () => {
    const inReview = { awaitsReview: true, providerVerdict: "NEEDS_REVIEW" } as const;
    expect(read({}, inReview)).toMatchObject({ verdict: "NEEDS_REVIEW", unread: ["reviews"] });
    expect(read({}, { ...inReview, pendingOutcome: "APPROVED" })).toMatchObject({ verdict: "APPROVED", unread: [] });
    const rejected = withReview({ reviewResult: { reviewAnswer: "RED", reviewRejectType: "FINAL" } });
    expect(read({ applicant: rejected }, inReview)).toMatchObject({ verdict: "REJECTED" });
  });
});

describe("contract test 9: Sumsub evidence", () => {
  test("readApplicant returns every evidence field of an approved applicant, and evaluate returns APPROVED for this evidence", () => {
    expect(read()).toMatchObject({
      livenessOutcome: "PASSED",
      faceMatchOutcome: "PASSED",
      documentType: "id_card",
      documentExpiry: "2031-06-30",
      nationality: "DZA",
      amlHitCount: 0,
      amlDecision: "CLEAR",
      attemptsUsed: 1,
      completedAt: new Date("2026-05-01T10:30:00Z"),
      reasonCodes: [],
      unread: [],
    });
    expect(evaluateState()).toEqual({ verdict: "APPROVED", reasonCodes: [] });
  });

  test("readApplicant returns no evidence if all steps are null", () => {
    const steps = { IDENTITY: null, SELFIE: null };
    expect(read({ steps })).toMatchObject({ livenessOutcome: undefined, faceMatchOutcome: undefined, documentType: undefined });
    expect(evaluateState({ steps })).toMatchObject({ verdict: "NEEDS_REVIEW" });
  });

  test("readApplicant returns the liveness outcome NOT_PERFORMED if the level requires only a photo", () => {
    const docSets = [{ idDocSetType: "SELFIE", videoRequired: "photoRequired" }];
    expect(read({ applicant: anApplicant({ requiredIdDocs: { docSets } }) })).toMatchObject({ livenessOutcome: "NOT_PERFORMED" });
  });

  test.each([
    ["two documents of one type", withIdDocs({}, {})],
    ["no document", withIdDocs()],
    ["a document whose country differs from the identity step", withIdDocs({ country: "FRA" })],
    ["a document that does not expire", withIdDocs({ termless: true })],
  ])("readApplicant returns no document expiry for %s", (_name, applicant) => {
    expect(read({ applicant })).toMatchObject({ documentExpiry: undefined });
    expect(evaluateState({ applicant })).toMatchObject({ verdict: "NEEDS_REVIEW" });
  });

  test("readApplicant returns PROFILE_MISMATCH only if profile and document differ in more than case, accents and hyphens", () => {
    expect(read({}, { profileKeys: ["first_name", "birth_date"] })).toMatchObject({ reasonCodes: [], unread: [] });
    expect(read({}, { profileKeys: ["last_name"] })).toMatchObject({ reasonCodes: ["PROFILE_MISMATCH"] });
    expect(read({}, { profileKeys: ["other"] })).toMatchObject({ unread: ["profile"] });
    const applicantWithOtherName = anApplicant({ fixedInfo: { firstName: "Karim" } });
    expect(read({ applicant: applicantWithOtherName }, { profileKeys: ["first_name"] })).toMatchObject({
      reasonCodes: ["PROFILE_MISMATCH"],
    });
  });

  test.each([
    [["SELFIE_MISMATCH"], "INCONCLUSIVE", "FAILED", ["FACE_MISMATCH"]],
    [["BAD_SELFIE"], "FAILED", "INCONCLUSIVE", ["LIVENESS_FAILED"]],
    [["BAD_SELFIE", "BAD_FACE_MATCHING"], "FAILED", "FAILED", ["LIVENESS_FAILED", "FACE_MISMATCH"]],
  ])(
    "readApplicant, for a RED selfie with the labels %j, returns the liveness outcome %s and the face match outcome %s",
    (rejectLabels, livenessOutcome, faceMatchOutcome, reasonCodes) => {
      const applicant = withReview({ reviewResult: { reviewAnswer: "RED", reviewRejectType: "FINAL", rejectLabels } });
      const steps = someSteps({ SELFIE: { reviewResult: { reviewAnswer: "RED" } } });
      expect(read({ applicant, steps })).toMatchObject({ livenessOutcome, faceMatchOutcome, reasonCodes });
    },
  );

  test.each([
    ["a level other than the configured level", { applicant: withReview({ levelName: "other" }) }, "level"],
    ["the type company", { applicant: anApplicant({ type: "company" }) }, "type"],
    ["a step that is not completed", { steps: someSteps({ QUESTIONNAIRE: null }) }, "questionnaire"],
    [
      "a RED document",
      { steps: someSteps({ IDENTITY: { idDocType: "ID_CARD", country: "DZA", reviewResult: { reviewAnswer: "RED" } } }) },
      "document_type",
    ],
    [
      "a document type that Amana does not support",
      { steps: someSteps({ IDENTITY: { idDocType: "DRIVERS", country: "DZA", reviewResult: { reviewAnswer: "GREEN" } } }) },
      "document_type",
    ],
    [
      "a rejection label",
      { applicant: withReview({ reviewResult: { reviewAnswer: "GREEN", rejectLabels: ["LOW_QUALITY"] } }) },
      "reason_codes",
    ],
  ])(
    "readApplicant lists a field in `unread` and evaluate returns NEEDS_REVIEW for an approved applicant with %s",
    (_name, responses, field) => {
      expect(read(responses)?.unread).toContain(field);
      expect(evaluateState(responses)).toMatchObject({ verdict: "NEEDS_REVIEW" });
    },
  );

  test("readApplicant ignores the label EXTERNAL_DECISION_REJECTION only if an operator's rejection is pending", () => {
    const rejectLabels = ["EXTERNAL_DECISION_REJECTION"];
    const applicant = withReview({ reviewResult: { reviewAnswer: "RED", reviewRejectType: "FINAL", rejectLabels } });
    expect(read({ applicant }, { pendingOutcome: "REJECTED" })).toMatchObject({ reasonCodes: [], unread: [] });
    expect(read({ applicant })).toMatchObject({ unread: ["reason_codes"] });
  });

  test("readApplicant returns no personal data of the responses", () => {
    const state = JSON.stringify(read({ amlCase: anAmlCase({ hits: [aHit("unknown")] }) }));
    expect(state).not.toContain("canary");
    expect(state).not.toMatch(/benali/i);
  });
});

describe("contract test 10: Sumsub AML case", () => {
  test.each([
    ["no case", undefined, undefined, undefined],
    ["no hits", anAmlCase(), 0, "CLEAR"],
    ["only a false positive", anAmlCase({ hits: [aHit("false_positive")] }), 1, "POSSIBLE_MATCH"],
    ["a whitelisted hit", anAmlCase({ hits: [aHit("whitelisted")] }), 1, "POSSIBLE_MATCH"],
    ["a true positive", anAmlCase({ hits: [aHit("true_positive"), aHit("unknown")] }), 2, "CONFIRMED_MATCH"],
    ["GREEN in reviewAnswer instead of answer", anAmlCase({ review: { reviewAnswer: "GREEN" } }), 0, "CLEAR"],
    [
      "a reviewAnswer that differs from answer",
      anAmlCase({ review: { answer: "GREEN", reviewAnswer: "RED" } }),
      0,
      "POSSIBLE_MATCH",
    ],
    ["neither answer nor reviewAnswer", anAmlCase({ review: {} }), 0, "POSSIBLE_MATCH"],
    ["hits that are not a list", anAmlCase({ hits: null }), undefined, undefined],
  ])(
    "readApplicant returns the hit count and decision of an AML case with %s, and evaluate returns APPROVED only for CLEAR",
    (_name, amlCase, amlHitCount, amlDecision) => {
      expect(read({ amlCase })).toMatchObject({ amlHitCount, amlDecision });
      const isClear = amlDecision === "CLEAR";
      expect(evaluateState({ amlCase })?.verdict).toBe(isClear ? "APPROVED" : "NEEDS_REVIEW");
    },
  );

  test("readApplicant lists `aml_decision` in `unread` if the AML case belongs to another applicant", () => {
    expect(read({ amlCase: anAmlCase({ targetEntityId: "other" }) })).toMatchObject({
      amlHitCount: undefined,
      unread: ["aml_decision"],
    });
  });
});

describe("contract test 12: readSumsubCallback", () => {
  const aCallback = (changes: object = {}) =>
    JSON.stringify({
      applicantId,
      externalUserId: reference,
      correlationId: "req-1",
      type: "applicantReviewed",
      createdAtMs: "2026-05-01 10:00:00.000",
      sandboxMode: false,
      reviewResult: { moderationComment: "é" },
      ...changes,
    });
  const receive = (body: string, algorithm = "sha256", name = "HMAC_SHA256_HEX", secret = "new") => {
    const headers = {
      "x-payload-digest": createHmac(algorithm, secret).update(body).digest("hex"),
      "x-payload-digest-alg": name,
    };
    return readSumsubCallback({ body: Buffer.from(body), headers }, { webhookSecrets: ["new", "old"], isSandbox: false });
  };

  test.each([
    ["sha256", "HMAC_SHA256_HEX", "genuine"],
    ["sha512", "HMAC_SHA512_HEX", "genuine"],
    ["sha1", "HMAC_SHA1_HEX", "forged"],
    ["sha512", "HMAC_SHA256_HEX", "forged"],
    ["sha256", "toString", "forged"],
  ])("readSumsubCallback classifies a %s digest with the algorithm header %s as %s", (algorithm, name, kind) => {
    expect(receive(aCallback(), algorithm, name)).toMatchObject({ kind });
  });

  test("readSumsubCallback accepts a signature made with the second configured secret, and rejects a signature made with an unknown secret", () => {
    expect(receive(aCallback(), "sha256", "HMAC_SHA256_HEX", "old")).toMatchObject({ kind: "genuine" });
    expect(receive(aCallback(), "sha256", "HMAC_SHA256_HEX", "other")).toEqual({ kind: "forged" });
  });

  test("readSumsubCallback builds the event id from the correlation id, type and creation time in the callback", () => {
    const eventId = "sumsub:req-1:applicantReviewed:2026-05-01 10:00:00.000";
    expect(receive(aCallback())).toEqual({
      kind: "genuine",
      hint: { eventId, providerId: applicantId, reference, sequence: undefined },
    });
  });

  test("readSumsubCallback returns other_environment for a sandbox callback, and unreadable for an invalid body", () => {
    expect(receive(aCallback({ sandboxMode: true }))).toEqual({ kind: "other_environment" });
    expect(receive(aCallback({ correlationId: null }))).toEqual({ kind: "unreadable" });
  });
});
