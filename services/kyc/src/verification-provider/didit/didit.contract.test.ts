import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { anApplication } from "../../../test/an-application.ts";
import {
  aDecision,
  aReview,
  reference,
  sessionId,
  withAml,
  withDocument,
  withFace,
  withLiveness,
} from "../../../test/fixtures/didit.ts";
import { evaluate } from "../../kyc-application/evaluate.ts";
import type { KnownApplication } from "../verification-provider.ts";
import { readDiditCallback } from "./didit-callback.ts";
import { readLifetimeMs } from "./didit-setup.ts";
import { isApprovedByPerson, readDecision } from "./read-decision.ts";

const known: KnownApplication = { ...anApplication().toKnownApplication(), providerId: sessionId, reference };
const terms = { requireVideo: true, allowedDocuments: ["id_card", "passport"] } as const;
const read = (decision: object, changes: Partial<KnownApplication> = {}) =>
  readDecision(decision, { ...known, ...changes }, "live");
const evaluateState = (decision: object, changes: Partial<KnownApplication> = {}) => {
  const state = read(decision, changes);
  return state && evaluate(state.verdict, state, terms, "2026-05-01");
};

describe("contract test 2: readDecision", () => {
  test("readDecision returns every evidence field of an approved decision, and evaluate returns APPROVED for this evidence", () => {
    expect(read(aDecision())).toMatchObject({
      providerId: sessionId,
      reference,
      status: "COMPLETED",
      verdict: "APPROVED",
      sequence: undefined,
      attemptsUsed: 1,
      livenessOutcome: "PASSED",
      faceMatchOutcome: "PASSED",
      documentType: "id_card",
      documentExpiry: "2031-06-30",
      nationality: "DZA",
      amlHitCount: 0,
      amlDecision: "CLEAR",
      reasonCodes: [],
      unread: [],
    });
    expect(evaluateState(aDecision())).toEqual({ verdict: "APPROVED", reasonCodes: [] });
  });

  test.each([
    ["Not Started", "CREATED", undefined],
    ["In Progress", "OPENED", undefined],
    ["Resubmitted", "FAILED", undefined],
    ["Approved", "COMPLETED", "APPROVED"],
    ["Kyc Expired", "COMPLETED", "APPROVED"],
    ["Declined", "COMPLETED", "REJECTED"],
    ["In Review", "COMPLETED", "NEEDS_REVIEW"],
    ["Expired", "EXPIRED", undefined],
    ["Abandoned", "EXPIRED", undefined],
  ])("readDecision converts Didit's status %s to Amana's status %s with the verdict %s", (status, expectedStatus, verdict) => {
    expect(read(aDecision({ status }))).toMatchObject({ status: expectedStatus, verdict });
  });

  test.each(["Awaiting User", "approved", "Tomorrow", 7, null])(
    "readDecision returns undefined for the unknown status %j",
    (status) => {
      expect(read(aDecision({ status }))).toBeUndefined();
    },
  );

  test("readDecision returns no evidence if all sections of the decision are null", () => {
    const lists = { id_verifications: null, liveness_checks: null, face_matches: null, aml_screenings: null, ip_analyses: null };
    expect(read(aDecision(lists))).toMatchObject({ livenessOutcome: undefined, documentType: undefined, amlDecision: undefined });
    expect(evaluateState(aDecision(lists))).toMatchObject({ verdict: "NEEDS_REVIEW" });
  });

  test.each([
    ["id_verifications", withDocument({ status: "In Review" })],
    ["liveness_checks", withLiveness({ status: "In Review" })],
    ["face_matches", withFace({ status: "In Review" })],
    ["aml_screenings", withAml({ status: "In Review" })],
    ["ip_analyses", aDecision({ ip_analyses: [{ status: "Declined", warnings: [] }] })],
    ["phone_verifications", aDecision({ phone_verifications: [{ status: "In Review", warnings: [] }] })],
  ])("readDecision lists %s in `unread` if Didit approved the session but not the check of this section", (name, decision) => {
    expect(read(decision)?.unread).toContain(name);
    expect(evaluateState(decision)).toMatchObject({ verdict: "NEEDS_REVIEW" });
  });

  test.each(["information", "warning", "error"])(
    "readDecision lists a feature in `unread` if the feature has an unknown risk of the type %s",
    (log_type) => {
      const decision = withDocument({ warnings: [{ risk: "TOMORROWS_RISK", log_type }] });
      expect(read(decision)).toMatchObject({ reasonCodes: [], unread: ["id_verifications"] });
    },
  );

  test.each([
    ["IMAGE_TOO_BLURRY", "information", [], []],
    ["IMAGE_TOO_BLURRY", "warning", ["DOCUMENT_UNREADABLE"], []],
    ["QR_NOT_DETECTED", "information", [], []],
    ["QR_NOT_DETECTED", "warning", [], ["id_verifications"]],
    ["FULL_NAME_MISMATCH_WITH_PROVIDED", "warning", ["PROFILE_MISMATCH"], []],
    ["POSSIBLE_DUPLICATED_USER", "information", ["DUPLICATE"], []],
    ["DOCUMENT_IN_BLOCKLIST", "error", [], ["id_verifications"]],
  ])(
    "readDecision converts the risk %s of the type %s to the reason codes %j and `unread` %j",
    (risk, log_type, reasonCodes, unread) => {
      expect(read(withDocument({ warnings: [{ risk, log_type }] }))).toMatchObject({ reasonCodes, unread });
    },
  );

  test("readDecision returns the liveness outcome INCONCLUSIVE for the method PASSIVE, and PASSED for active_3d", () => {
    expect(read(withLiveness({ method: "PASSIVE" }))).toMatchObject({ livenessOutcome: "INCONCLUSIVE" });
    expect(read(withLiveness({ method: "active_3d" }))).toMatchObject({ livenessOutcome: "PASSED" });
  });

  test("readDecision lists an unexpected environment, session kind, document type or profile in `unread`", () => {
    expect(read(aDecision({ environment: "sandbox" }))?.unread).toEqual(["environment"]);
    expect(read(aDecision({ session_kind: "business" }))?.unread).toEqual(["session_kind"]);
    expect(read(withDocument({ document_type: "Residence Permit" }))).toMatchObject({
      documentType: undefined,
      reasonCodes: ["DOCUMENT_NOT_ALLOWED"],
      unread: ["document_type"],
    });
    expect(read(aDecision(), { profileKeys: ["first_name"] })?.unread).toEqual([]);
    expect(read(aDecision(), { profileKeys: ["last_name"] })?.unread).toEqual(["profile"]);
    expect(read(aDecision(), { profileKeys: ["other"] })?.unread).toEqual(["profile"]);
  });

  test("readDecision returns the earliest expiry of two documents, and no expiry if one document has no expiry", () => {
    const [first] = aDecision()["id_verifications"] as object[];
    const withTwoDocuments = (expiration_date: unknown) =>
      aDecision({ id_verifications: [first, { ...first, expiration_date }] });
    expect(read(withTwoDocuments("2027-01-31"))).toMatchObject({ documentExpiry: "2027-01-31" });
    expect(read(withTwoDocuments(null))).toMatchObject({ documentExpiry: undefined });
  });

  test("readDecision returns no personal data of the response", () => {
    expect(JSON.stringify(read(aDecision()))).not.toContain("canary");
  });

  test("readDecision returns the same hash if only an ignored field changes, and a different hash if the status changes", () => {
    expect(read(aDecision())?.stateHash).toBe(read(aDecision({ session_number: 9 }))?.stateHash);
    expect(read(aDecision())?.stateHash).not.toBe(read(aDecision({ status: "Kyc Expired" }))?.stateHash);
  });
});

describe("contract test 1: readLifetimeMs", () => {
  test.each([
    [1_440, 24],
    [3_599, 3_599 / 60],
    [3_600, 1],
    [604_800, 168],
    [2_419_200, 672],
    [2_419_201, undefined],
    [0, undefined],
    ["1440", undefined],
  ])("readLifetimeMs converts session_expiration_time %j to %s hours", (value, hours) => {
    expect(readLifetimeMs(value)).toBe(hours === undefined ? undefined : hours * 3_600_000);
  });
});

describe("contract test 3: Didit AML", () => {
  const aHit = (review_status: string) => ({ caption: "canary-hit", review_status });
  test.each([
    ["no screening", undefined, undefined, aDecision({ aml_screenings: null })],
    ["0 hits", 0, "CLEAR", aDecision()],
    [
      "false positives in an approved screening",
      2,
      "POSSIBLE_MATCH",
      withAml({ total_hits: 2, hits: [aHit("False Positive"), aHit("False Positive")] }),
    ],
    ["a confirmed match", 1, "CONFIRMED_MATCH", withAml({ total_hits: 1, hits: [aHit("Confirmed Match")] })],
    ["more hits than total_hits", 1, "POSSIBLE_MATCH", withAml({ total_hits: 0, hits: [aHit("Unreviewed")] })],
    ["a total_hits that is not a number", undefined, "POSSIBLE_MATCH", withAml({ total_hits: "0" })],
    ["hits that are not a list", undefined, "POSSIBLE_MATCH", withAml({ hits: null })],
    ["a screening in review", 0, "POSSIBLE_MATCH", withAml({ status: "In Review" })],
  ])(
    "readDecision, for an AML result with %s, returns the hit count %s and the decision %s",
    (_name, amlHitCount, amlDecision, decision) => {
      expect(read(decision)).toMatchObject({ amlHitCount, amlDecision });
    },
  );

  test("evaluate returns APPROVED only for a Didit decision whose AML screening has 0 hits and 0 warnings", () => {
    expect(evaluateState(aDecision())).toMatchObject({ verdict: "APPROVED" });
    for (const decision of [
      aDecision({ aml_screenings: null }),
      withAml({ total_hits: 1, hits: [aHit("False Positive")] }),
      withAml({ warnings: [{ risk: "COULD_NOT_PERFORM_AML_SCREENING", log_type: "information" }] }),
    ])
      expect(evaluateState(decision)).toMatchObject({ verdict: "NEEDS_REVIEW" });
  });
});

describe("contract test 4: isApprovedByPerson", () => {
  test.each([
    ["an approval by a person in the console", [aReview()], true],
    ["an approval by an API key", [aReview({ actor_type: "API_KEY" })], false],
    ["an approval by the system", [aReview({ actor_type: "SYSTEM" })], false],
    ["a note that the API added", [aReview({ actor_email: undefined, previous_status: undefined })], false],
    ["a note of another kind", [aReview({ activity_type: "NOTE_ADDED" })], false],
    ["no review", [], false],
    [
      "an approval by a person, then by an API key",
      [aReview(), aReview({ actor_type: "API_KEY", created_at: "2026-05-02T10:00:00Z" })],
      false,
    ],
    ["a rejection by a person", [aReview({ new_status: "Declined" })], false],
  ])(
    "isApprovedByPerson returns true only if the newest status change is a person's approval: %s (case %#)",
    (_name, results, expected) => {
      expect(isApprovedByPerson({ results })).toBe(expected);
    },
  );

  test("isApprovedByPerson returns undefined for an unreadable response", () => {
    expect(isApprovedByPerson({ results: "none" })).toBeUndefined();
  });
});

describe("contract test 5: readDiditCallback", () => {
  const now = new Date("2026-05-01T10:00:00Z");
  const seconds = now.getTime() / 1000;
  const aCallback = (changes: object = {}) =>
    JSON.stringify({
      event_id: "event-1",
      webhook_type: "status.updated",
      timestamp: seconds,
      environment: "live",
      session_id: sessionId,
      vendor_data: reference,
      decision: { note: "é ض" },
      ...changes,
    });
  const sign = (body: string, secret = "new") => createHmac("sha256", secret).update(body).digest("hex");
  const receive = (body: string, headers: Record<string, string> = { "x-signature": sign(body) }) =>
    readDiditCallback({ body: Buffer.from(body), headers }, { webhookSecrets: ["new", "old"], environment: "live" }, now);

  test("readDiditCallback accepts a signed body with non-ASCII text", () => {
    const hint = { eventId: "didit:event-1", providerId: sessionId, reference, sequence: undefined };
    expect(receive(aCallback())).toEqual({ kind: "genuine", hint });
  });

  test("readDiditCallback accepts a signature with the second configured secret", () => {
    expect(receive(aCallback(), { "x-signature": sign(aCallback(), "old") })).toMatchObject({ kind: "genuine" });
  });

  test("readDiditCallback accepts a callback whose x-signature-previous matches a configured secret after a rotation at Didit", () => {
    const headers = { "x-signature": sign(aCallback(), "newest"), "x-signature-previous": sign(aCallback(), "new") };
    expect(receive(aCallback(), headers)).toMatchObject({ kind: "genuine" });
  });

  test.each([
    ["a wrong secret", { "x-signature": sign(aCallback(), "other") }],
    ["no signature", {}],
    ["X-Signature-V2 alone", { "x-signature-v2": sign(aCallback()) }],
    ["X-Signature-V2-Previous alone", { "x-signature-v2-previous": sign(aCallback()) }],
    ["X-Signature-Simple alone", { "x-signature-simple": sign(aCallback()) }],
    ["a signature that is not hex", { "x-signature": "z".repeat(64) }],
  ])("readDiditCallback rejects a callback with %s", (_name, headers) => {
    expect(receive(aCallback(), headers)).toEqual({ kind: "forged" });
  });

  test.each([
    [899, "genuine"],
    [901, "forged"],
    [-901, "forged"],
  ])("readDiditCallback classifies a callback that was signed %i seconds ago as %s", (ago, kind) => {
    expect(receive(aCallback({ timestamp: seconds - ago }))).toMatchObject({ kind });
  });

  test("readDiditCallback builds the event id from session id, type and timestamp if the callback has no event id", () => {
    expect(receive(aCallback({ event_id: null }))).toMatchObject({
      hint: { eventId: `didit:${sessionId}:status.updated:${seconds}` },
    });
  });

  test("readDiditCallback returns other_environment for a sandbox callback, and unreadable for an invalid body", () => {
    expect(receive(aCallback({ environment: "sandbox" }))).toEqual({ kind: "other_environment" });
    expect(receive(aCallback({ session_id: { id: 1 } }))).toEqual({ kind: "unreadable" });
  });
});
