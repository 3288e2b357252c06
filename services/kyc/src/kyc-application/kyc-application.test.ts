import { describe, expect, test } from "vitest";
import { anApplication, aState, createdAt, linkExpiresAt } from "../../test/an-application.ts";
import type { ApplicationState, KycStatus } from "../verification-provider/verification-provider.ts";
import { kycStatuses, reasonCodes } from "../verification-provider/verification-provider.ts";
import { toKycApplicationMessage } from "./kyc-application.message.ts";
import type { KycApplication } from "./kyc-application.ts";

const laterTime = new Date(createdAt.getTime() + 60_000);

/** Applies a provider's state and returns the changes for which events were emitted. */
function applyState(application: KycApplication, stateFields: Partial<ApplicationState>, now = laterTime, requestedAt = now) {
  const emittedChanges: string[] = [];
  const state = aState({ sequence: application.sequence + 1, ...stateFields });
  const result = application.applyState(state, { at: requestedAt }, now, (change) => emittedChanges.push(change));
  return { result, emitted: emittedChanges };
}

const anApplicationIn = (status: KycStatus, attemptsUsed = status === "CREATED" || status === "OPENED" ? 0 : 1) =>
  anApplication({ status, attemptsUsed, sequence: 4, ...(status === "COMPLETED" ? { verdict: "APPROVED" } : {}) });
const checkedStatuses = ["SUBMITTED", "PROCESSING"] as const;

describe("applyState, status changes", () => {
  /** Allowed next statuses of each status, within the same attempt. */
  const allowedChanges: Record<KycStatus, readonly KycStatus[]> = {
    CREATED: ["OPENED", "SUBMITTED", "PROCESSING", "COMPLETED", "FAILED", "EXPIRED", "CANCELED"],
    OPENED: ["SUBMITTED", "PROCESSING", "COMPLETED", "FAILED", "EXPIRED", "CANCELED"],
    SUBMITTED: ["PROCESSING", "COMPLETED", "FAILED", "OPENED", "EXPIRED", "CANCELED"],
    PROCESSING: ["COMPLETED", "FAILED", "OPENED", "EXPIRED", "CANCELED"],
    FAILED: ["OPENED", "SUBMITTED", "PROCESSING", "COMPLETED", "EXPIRED", "CANCELED"],
    COMPLETED: [],
    EXPIRED: ["COMPLETED"],
    CANCELED: [],
  };
  const cases = kycStatuses.flatMap((from) => kycStatuses.map((to) => [from, to] as const)).filter(([from, to]) => from !== to);

  test.each(cases)("applyState changes the status from %s to %s only if the change is allowed", (from, to) => {
    const application = anApplicationIn(from);
    const { emitted, result } = applyState(application, { status: to, attemptsUsed: application.attemptsUsed });
    const isLegal = allowedChanges[from].includes(to);
    expect(application.status).toBe(isLegal ? to : from);
    // After EXPIRED, the steps of a submission in time are accepted until its verdict follows.
    const isAccepted = isLegal || (from === "EXPIRED" && (to === "SUBMITTED" || to === "PROCESSING"));
    expect(result).toBe(isAccepted ? "applied" : "illegal");
    expect(emitted.at(-1)).toBe(isLegal ? `KYC_${to}` : undefined);
  });

  test.each(kycStatuses)("applyState emits nothing for the repeated status %s", (status) => {
    const application = anApplicationIn(status);
    expect(applyState(application, { status, attemptsUsed: application.attemptsUsed })).toEqual({
      result: "applied",
      emitted: [],
    });
  });

  test.each(["OPENED", "SUBMITTED", "PROCESSING"] as const)(
    "applyState changes PROCESSING back to %s for a later attempt",
    (status) => {
      const application = anApplicationIn("PROCESSING");
      applyState(application, { status, attemptsUsed: 2 });
      expect(application).toMatchObject({ status, attemptsUsed: 2 });
    },
  );

  test("applyState emits KYC_FAILED again for a later failed attempt", () => {
    const application = anApplicationIn("FAILED");
    expect(applyState(application, { status: "FAILED", attemptsUsed: 2 }).emitted).toEqual(["KYC_FAILED"]);
    expect(applyState(application, { status: "FAILED", attemptsUsed: 2 }).emitted).toEqual([]);
  });

  // After a submission, only a failed attempt can result in these statuses.
  test.each(checkedStatuses.flatMap((from) => (["OPENED", "EXPIRED", "CANCELED"] as const).map((to) => [from, to] as const)))(
    "applyState emits a missed KYC_FAILED for the change from %s to %s",
    (from, to) => {
      const application = anApplicationIn(from);
      expect(applyState(application, { status: to, attemptsUsed: 1 }).emitted).toEqual(["KYC_FAILED", `KYC_${to}`]);
      expect(application.status).toBe(to);
    },
  );

  test.each<[KycStatus, number, KycStatus, number, string[]]>([
    ["PROCESSING", 1, "SUBMITTED", 2, ["KYC_FAILED", "KYC_SUBMITTED"]],
    ["PROCESSING", 1, "PROCESSING", 2, ["KYC_FAILED", "KYC_PROCESSING"]],
    ["SUBMITTED", 2, "PROCESSING", 3, ["KYC_FAILED", "KYC_PROCESSING"]],
    ["PROCESSING", 1, "COMPLETED", 2, ["KYC_FAILED", "KYC_COMPLETED"]],
    ["OPENED", 0, "COMPLETED", 2, ["KYC_FAILED", "KYC_COMPLETED"]],
    ["OPENED", 0, "OPENED", 1, ["KYC_FAILED", "KYC_OPENED"]],
    ["CREATED", 0, "EXPIRED", 1, ["KYC_FAILED", "KYC_EXPIRED"]],
    ["FAILED", 1, "PROCESSING", 3, ["KYC_FAILED", "KYC_PROCESSING"]],
    ["FAILED", 1, "OPENED", 2, ["KYC_FAILED", "KYC_OPENED"]],
    ["FAILED", 1, "PROCESSING", 2, ["KYC_PROCESSING"]],
    ["FAILED", 1, "FAILED", 3, ["KYC_FAILED"]],
    ["OPENED", 0, "PROCESSING", 1, ["KYC_PROCESSING"]],
    ["OPENED", 0, "FAILED", 1, ["KYC_FAILED"]],
    ["PROCESSING", 0, "COMPLETED", 0, ["KYC_COMPLETED"]],
    ["SUBMITTED", 0, "PROCESSING", 1, ["KYC_PROCESSING"]],
    ["SUBMITTED", 0, "OPENED", 0, ["KYC_FAILED", "KYC_OPENED"]],
    ["PROCESSING", 1, "COMPLETED", 0, ["KYC_COMPLETED"]],
    // The provider counts more attempts than this service requested.
    ["PROCESSING", 3, "COMPLETED", 4, ["KYC_COMPLETED"]],
    ["OPENED", 0, "COMPLETED", 5, ["KYC_FAILED", "KYC_COMPLETED"]],
    ["SUBMITTED", 3, "PROCESSING", 4, ["KYC_PROCESSING"]],
    ["PROCESSING", 2, "OPENED", 3, ["KYC_FAILED", "KYC_OPENED"]],
    ["CREATED", 0, "CREATED", 1, []],
  ])(
    "applyState, from %s with %i attempts to %s with %i attempts, emits %j",
    (from, attemptsBefore, to, laterTime, expectedChanges) => {
      const application = anApplicationIn(from, attemptsBefore);
      expect(applyState(application, { status: to, attemptsUsed: laterTime }).emitted).toEqual(expectedChanges);
      expect(application).toMatchObject({ status: to, attemptsUsed: Math.max(attemptsBefore, laterTime) });
    },
  );

  test.each(checkedStatuses)("applyState changes %s to FAILED when the link expires without remaining attempts", (from) => {
    const application = anApplicationIn(from, 3);
    expect(applyState(application, { status: "EXPIRED", attemptsUsed: 3 }).emitted).toEqual(["KYC_FAILED"]);
    expect(application).toMatchObject({ status: "FAILED" });
  });

  test.each(["OPENED", "SUBMITTED", "PROCESSING", "COMPLETED", "EXPIRED", "FAILED"] as const)(
    "applyState ignores %s after the last attempt failed",
    (status) => {
      const application = anApplicationIn("FAILED", 3);
      expect(applyState(application, { status, attemptsUsed: 4 }).emitted).toEqual([]);
      expect(application).toMatchObject({ status: "FAILED" });
      expect(application.isOpen()).toBe(false);
    },
  );

  test("applyState changes the status to CANCELED even after the last attempt failed", () => {
    const application = anApplicationIn("FAILED", 3);
    applyState(application, { status: "CANCELED", attemptsUsed: 3 });
    expect(application.status).toBe("CANCELED");
  });

  test("toKycApplicationMessage sets error_message while the status is FAILED", () => {
    const application = anApplicationIn("PROCESSING");
    applyState(application, { status: "FAILED" });
    expect(toKycApplicationMessage(application).errorMessage).toContain("try again");
    applyState(application, { status: "OPENED" });
    expect(toKycApplicationMessage(application).errorMessage).toBeUndefined();
    applyState(application, { status: "FAILED", attemptsUsed: 3 });
    expect(toKycApplicationMessage(application).errorMessage).toContain("no attempt remains");
  });
});

describe("applyState, ignored states", () => {
  test.each([4, 3, 0])("applyState changes only synced_at for the sequence %i after the sequence 4", (sequence) => {
    const application = anApplicationIn("OPENED");
    expect(applyState(application, { sequence })).toEqual({ result: "stale", emitted: [] });
    expect(application).toMatchObject({ status: "OPENED", sequence: 4, syncedAt: laterTime });
  });

  test.each([{ reference: "another" }, { providerId: "another" }])(
    "applyState changes nothing for a state with %o",
    (otherFields) => {
      const application = anApplicationIn("OPENED");
      expect(applyState(application, otherFields)).toEqual({ result: "mismatch", emitted: [] });
      expect(application).toMatchObject({ status: "OPENED", sequence: 4, syncedAt: createdAt });
    },
  );
});

describe("applyState, verdict", () => {
  const completeApplication = (state: Partial<ApplicationState>, changes: Partial<KycApplication> = {}) => {
    const application = anApplication({ status: "PROCESSING", attemptsUsed: 1, ...changes });
    const { emitted } = applyState(application, state);
    return { verdict: application.verdict, emitted, codes: application.reasonCodes, application };
  };

  test.each([
    ["APPROVED", "KYC_COMPLETED"],
    ["REJECTED", "KYC_REJECTED"],
    ["NEEDS_REVIEW", "KYC_NEEDS_REVIEW"],
  ] as const)("applyState with the verdict %s emits %s", (verdict, change) => {
    expect(completeApplication({ verdict })).toMatchObject({ verdict, emitted: [change] });
  });

  test.each<[string, Partial<ApplicationState>, Partial<KycApplication>, string[]]>([
    ["a hit in a sanctions list", { amlHitCount: 1, amlDecision: "CLEAR" }, {}, ["AML_MATCH"]],
    ["a possible match", { amlDecision: "POSSIBLE_MATCH" }, {}, []],
    ["a still instead of a video", { livenessOutcome: "PASSED" }, { requireVideo: false }, []],
    ["a profile that differs", { reasonCodes: ["PROFILE_MISMATCH"] }, {}, ["PROFILE_MISMATCH"]],
    ["another document", { documentType: "passport" }, { allowedDocuments: ["id_card"] }, ["DOCUMENT_NOT_ALLOWED"]],
    ["evidence that cannot be read", { unread: ["aml_decision"] }, {}, []],
    ["no evidence at all", { livenessOutcome: undefined, faceMatchOutcome: undefined, amlHitCount: undefined }, {}, []],
  ])("applyState changes the verdict APPROVED to NEEDS_REVIEW for %s", (_name, state, changes, expectedChanges) => {
    expect(completeApplication(state, changes)).toMatchObject({
      verdict: "NEEDS_REVIEW",
      emitted: ["KYC_NEEDS_REVIEW"],
      codes: expectedChanges,
    });
  });

  test.each(["APPROVED", "NEEDS_REVIEW", "REJECTED"] as const)(
    "applyState changes the verdict %s to REJECTED for an expired document",
    (verdict) => {
      const { verdict: result, codes, emitted } = completeApplication({ verdict, documentExpiry: "2026-02-28" });
      expect({ result, codes, emitted }).toEqual({ result: "REJECTED", codes: ["DOCUMENT_EXPIRED"], emitted: ["KYC_REJECTED"] });
    },
  );

  test("applyState keeps APPROVED for a document on its last valid day", () => {
    expect(completeApplication({ documentExpiry: "2026-03-01" }).verdict).toBe("APPROVED");
  });

  test("applyState changes an unreadable verdict to NEEDS_REVIEW, and ignores a later approval", () => {
    const { verdict, emitted, application } = completeApplication({ verdict: undefined, unread: ["verdict"] });
    expect({ verdict, emitted }).toEqual({ verdict: "NEEDS_REVIEW", emitted: ["KYC_NEEDS_REVIEW"] });
    expect(applyState(application, { verdict: "APPROVED" }).emitted).toEqual([]);
    expect(application.awaitsReview()).toBe(true);
    expect(application.isReviewRequiredByOurRules()).toBe(true);
  });

  test("toKycApplicationMessage returns a text of Amana for the verdict and for every reason code", () => {
    const { application } = completeApplication({ verdict: "REJECTED", reasonCodes: [...reasonCodes] });
    const { decisionSummary, reasonCodes: reasons } = toKycApplicationMessage(application);
    expect(reasons.map(({ code }) => code)).toEqual(reasonCodes);
    for (const { message } of reasons) expect(message).toMatch(/^[A-Z].*\.$/);
    expect(decisionSummary).toContain("failed");
  });

  test("applyState changes REJECTED to NEEDS_REVIEW if PROFILE_MISMATCH is the only reason", () => {
    expect(completeApplication({ verdict: "REJECTED", reasonCodes: ["PROFILE_MISMATCH"] }).verdict).toBe("NEEDS_REVIEW");
    expect(completeApplication({ verdict: "REJECTED", reasonCodes: ["PROFILE_MISMATCH", "UNDERAGE"] }).verdict).toBe("REJECTED");
  });

  test("applyState sets the liveness outcome NOT_PERFORMED without a video, even if the provider reports PASSED", () => {
    expect(completeApplication({ livenessOutcome: "PASSED" }, { requireVideo: false }).application.livenessOutcome).toBe(
      "NOT_PERFORMED",
    );
  });
});

test.each(["REJECTED", "NEEDS_REVIEW"] as const)(
  "applyState keeps a final verdict when the provider later reports %s",
  (verdict) => {
    const application = anApplication({ status: "PROCESSING", attemptsUsed: 1 });
    applyState(application, {});
    expect(applyState(application, {}).result).toBe("applied");
    expect(applyState(application, { verdict })).toEqual({ result: "illegal", emitted: [] });
    expect(application.verdict).toBe("APPROVED");
  },
);

describe("applyState, review", () => {
  const anApplicationInReview = (state: Partial<ApplicationState> = { verdict: "NEEDS_REVIEW" }) => {
    const application = anApplicationIn("PROCESSING");
    applyState(application, state);
    return application;
  };

  test.each(["APPROVED", "REJECTED"] as const)(
    "applyState applies the provider's decision %s as final, and emits only KYC_REVIEW_RESOLVED",
    (verdict) => {
      const application = anApplicationInReview({ verdict: "NEEDS_REVIEW", amlHitCount: 2, amlDecision: "POSSIBLE_MATCH" });
      expect(applyState(application, { verdict, amlHitCount: 2 }).emitted).toEqual(["KYC_REVIEW_RESOLVED"]);
      expect(application).toMatchObject({ status: "COMPLETED", verdict });
      for (const nextVerdict of ["APPROVED", "REJECTED", "NEEDS_REVIEW"] as const) {
        expect(applyState(application, { verdict: nextVerdict }).emitted).toEqual([]);
        expect(application.verdict).toBe(verdict);
      }
    },
  );

  test("applyState keeps a review open that only Amana's rules require if the provider repeats its approval", () => {
    const application = anApplicationInReview({ amlHitCount: 1 });
    for (let repetition = 0; repetition < 3; repetition++)
      expect(applyState(application, { amlHitCount: 0 }).emitted).toEqual([]);
    expect(application).toMatchObject({ verdict: "NEEDS_REVIEW", amlHitCount: 1 });
  });

  test("applyState keeps a review open that began with the provider's rejection if the provider later approves", () => {
    const application = anApplicationInReview({ verdict: "REJECTED", reasonCodes: ["PROFILE_MISMATCH"] });
    expect(applyState(application, { verdict: "APPROVED" }).emitted).toEqual([]);
    expect(application.verdict).toBe("NEEDS_REVIEW");
  });

  test("applyState ends a review that only Amana's rules require if the provider rejects or decides its own review", () => {
    const rejectedApplication = anApplicationInReview({ amlHitCount: 1 });
    expect(applyState(rejectedApplication, { verdict: "REJECTED" }).emitted).toEqual(["KYC_REVIEW_RESOLVED"]);
    const reviewedApplication = anApplicationInReview({ amlHitCount: 1 });
    expect(applyState(reviewedApplication, { verdict: "NEEDS_REVIEW", amlHitCount: 1 }).emitted).toEqual([]);
    expect(applyState(reviewedApplication, { verdict: "APPROVED", amlHitCount: 1 }).emitted).toEqual(["KYC_REVIEW_RESOLVED"]);
  });

  test("applyState ends a review with REJECTED if the document expired before the provider's approval", () => {
    const application = anApplicationInReview({ verdict: "NEEDS_REVIEW", documentExpiry: "2026-03-01" });
    const nextDay = new Date("2026-03-02T00:00:00.000Z");
    expect(applyState(application, { verdict: "APPROVED", documentExpiry: "2026-03-01" }, nextDay).emitted).toEqual([
      "KYC_REVIEW_RESOLVED",
    ]);
    expect(application).toMatchObject({ verdict: "REJECTED", reasonCodes: ["DOCUMENT_EXPIRED"] });
  });

  test("applyState ends a review with REJECTED for an expired document, even if the provider's approval omits the expiry", () => {
    const application = anApplicationInReview({ verdict: "NEEDS_REVIEW", documentExpiry: "2026-03-01" });
    applyState(application, { verdict: "APPROVED", documentExpiry: undefined }, new Date("2026-03-02T00:00:00.000Z"));
    expect(application).toMatchObject({ verdict: "REJECTED", documentExpiry: "2026-03-01" });
  });

  test.each(["at the provider", "in Amana"])(
    "KycApplication ends a review without positive evidence with APPROVED if a person approves %s",
    (place) => {
      const doubtfulEvidence = { livenessOutcome: undefined, amlHitCount: undefined, unread: ["reason_codes"] };
      const application = anApplicationInReview({ verdict: "NEEDS_REVIEW", ...doubtfulEvidence });
      if (place === "in Amana") application.resolveReview("APPROVED", laterTime, () => {});
      else applyState(application, { verdict: "APPROVED", ...doubtfulEvidence });
      expect(application).toMatchObject({ verdict: "APPROVED", reviewedAt: laterTime });
    },
  );
});

describe("expiry of the link", () => {
  const afterGrace = new Date(linkExpiresAt.getTime() + 61_000);

  test.each<[KycStatus, number, string[]]>([
    ["CREATED", 0, ["KYC_EXPIRED"]],
    ["OPENED", 0, ["KYC_EXPIRED"]],
    ["FAILED", 1, ["KYC_EXPIRED"]],
    ["FAILED", 3, []],
    ["SUBMITTED", 1, []],
    ["PROCESSING", 1, []],
  ])("applyState after the deadline, for %s with %i attempts, emits %j", (status, attemptsUsed, expectedChanges) => {
    const application = anApplicationIn(status, attemptsUsed);
    expect(applyState(application, { status, attemptsUsed, sequence: 4 }, afterGrace).emitted).toEqual(expectedChanges);
  });

  test.each([0, 1])(
    "applyState does not expire the link for a read that began before the deadline, with the sequence 4 + %i",
    (sequenceStep) => {
      const application = anApplicationIn("OPENED");
      const requestedAt = new Date(afterGrace.getTime() - 2_000);
      expect(
        applyState(application, { status: "OPENED", attemptsUsed: 0, sequence: 4 + sequenceStep }, afterGrace, requestedAt)
          .emitted,
      ).toEqual([]);
      application.planCheck([300], afterGrace, { at: requestedAt });
      expect(application.nextCheckAt?.getTime()).toBeLessThanOrEqual(afterGrace.getTime());
      expect(
        applyState(application, { status: "OPENED", attemptsUsed: 0, sequence: 4 + sequenceStep }, afterGrace).emitted,
      ).toEqual(["KYC_EXPIRED"]);
    },
  );

  test("applyState does not expire the link within a minute after the deadline", () => {
    const application = anApplicationIn("OPENED");
    expect(applyState(application, { status: "OPENED", sequence: 4 }, linkExpiresAt).emitted).toEqual([]);
  });

  test("planCheck plans a check at the deadline and at the end of the grace period", () => {
    const application = anApplicationIn("OPENED");
    const planNextCheck = (now: Date) => {
      application.nextCheckAt = null;
      application.planCheck([300, 3_600], now);
      return application.nextCheckAt;
    };
    expect(planNextCheck(createdAt)).toEqual(new Date(createdAt.getTime() + 300_000));
    expect(planNextCheck(new Date(linkExpiresAt.getTime() - 60_000))).toEqual(linkExpiresAt);
    expect(planNextCheck(linkExpiresAt)).toEqual(new Date(linkExpiresAt.getTime() + 60_000));
    expect(planNextCheck(afterGrace)).toEqual(new Date(afterGrace.getTime() + 3_600_000));
  });

  test("planCheck does not delay a check that is already due", () => {
    const application = anApplicationIn("OPENED");
    application.checkSoon(createdAt);
    application.planCheck([300], laterTime);
    expect(application.nextCheckAt).toEqual(createdAt);
  });

  test.each(["COMPLETED", "EXPIRED", "CANCELED"] as const)("planCheck plans no check for %s", (status) => {
    const application = anApplicationIn(status);
    application.planCheck([300], createdAt);
    expect(application.nextCheckAt).toBeNull();
  });
});

describe("notifyDocumentExpiry", () => {
  const emitNotices = (application: KycApplication, day: string) => {
    const emitted: string[] = [];
    application.notifyDocumentExpiry(new Date(`${day}T09:00:00Z`), (change) => emitted.push(change));
    return emitted;
  };
  const anApprovedApplication = (changes: Partial<KycApplication> = {}) =>
    anApplication({ status: "COMPLETED", verdict: "APPROVED", documentExpiry: "2026-06-30", ...changes });

  test("notifyDocumentExpiry emits one event 30 days ahead, 7 days ahead and after the expiry", () => {
    const application = anApprovedApplication();
    const days = ["2026-05-30", "2026-05-31", "2026-06-01", "2026-06-22", "2026-06-23", "2026-06-30", "2026-07-01", "2026-07-02"];
    expect(days.map((day) => emitNotices(application, day))).toEqual([
      [],
      ["KYC_DOCUMENT_EXPIRING"],
      [],
      [],
      ["KYC_DOCUMENT_EXPIRING"],
      [],
      ["KYC_DOCUMENT_EXPIRED"],
      [],
    ]);
  });

  test("notifyDocumentExpiry emits only KYC_DOCUMENT_EXPIRED if the first run is after the expiry", () => {
    const application = anApprovedApplication();
    expect(emitNotices(application, "2027-01-01")).toEqual(["KYC_DOCUMENT_EXPIRED"]);
    expect(emitNotices(application, "2027-01-02")).toEqual([]);
  });

  test.each([{ verdict: "REJECTED" }, { verdict: "NEEDS_REVIEW" }, { documentExpiry: null }] as const)(
    "notifyDocumentExpiry emits nothing for an application with %o",
    (changes) => {
      expect(emitNotices(anApprovedApplication(changes), "2026-07-01")).toEqual([]);
    },
  );
});

describe("applyState, states without a sequence", () => {
  const aVendorApplication = (changes: Partial<KycApplication> = {}) => anApplication({ provider: "didit", ...changes });
  const later = (seconds: number) => new Date(createdAt.getTime() + seconds * 1_000);
  /** Applies the response to a request that began at `seconds`. It was received at `endSeconds`. */
  const apply = (
    application: KycApplication,
    stateFields: Partial<ApplicationState>,
    seconds: number,
    closing?: "USED_UP",
    endSeconds = seconds + 1,
  ) => {
    const emitted: string[] = [];
    const state = aState({ sequence: undefined, stateHash: "h1", ...stateFields });
    const start = { at: later(seconds), nextCheckAt: application.nextCheckAt, closing };
    const result = application.applyState(state, start, later(endSeconds), (change) => emitted.push(change));
    application.planCheck([300, 600], later(endSeconds), start);
    return { result, emitted };
  };

  test("applyState changes nothing for an unchanged state hash, and the pause before the next check grows", () => {
    const application = aVendorApplication();
    expect(apply(application, { status: "OPENED" }, 10).result).toBe("applied");
    expect(application).toMatchObject({ sequence: 1, checks: 1 });
    expect(apply(application, { status: "OPENED" }, 20).result).toBe("stale");
    expect(application).toMatchObject({ sequence: 1, checks: 2, nextCheckAt: later(621) });
  });

  test("applyState ignores the response to an older request, and plans an immediate check if its hash differs", () => {
    const application = aVendorApplication();
    apply(application, { status: "COMPLETED", verdict: "NEEDS_REVIEW", stateHash: "h2" }, 20);
    const plannedAt = application.nextCheckAt;
    expect(apply(application, { status: "OPENED", stateHash: "h1" }, 10, undefined, 22).result).toBe("stale");
    expect(application).toMatchObject({ status: "COMPLETED", sequence: 1, nextCheckAt: later(22) });
    expect(plannedAt).not.toEqual(later(22));
  });

  test("applyState does not plan an immediate check for the response to an older request with the same hash", () => {
    const application = aVendorApplication();
    apply(application, { status: "OPENED" }, 20);
    expect(apply(application, { status: "OPENED" }, 10, undefined, 22).result).toBe("stale");
    expect(application.nextCheckAt?.getTime()).toBeGreaterThan(later(22).getTime());
  });

  test("applyState plans to close the link after the last attempt, and plans no check after the link is closed", () => {
    const application = aVendorApplication({ provider: "sumsub", maxAttempts: 1 });
    expect(apply(application, { status: "FAILED", attemptsUsed: 1 }, 10).emitted).toEqual(["KYC_FAILED"]);
    expect(application).toMatchObject({ closing: "USED_UP", nextCheckAt: later(11) });
    expect(application.closeReason(later(12))).toBe("USED_UP");
    // The applicant submitted again before the link was closed.
    expect(apply(application, { status: "SUBMITTED", attemptsUsed: 2, stateHash: "h2" }, 20, "USED_UP").result).toBe("stale");
    expect(application).toMatchObject({ status: "FAILED", closing: "USED_UP" });
    expect(application.nextCheckAt).not.toBeNull();
    expect(apply(application, { status: "FAILED", stateHash: "closed" }, 30, "USED_UP").result).toBe("applied");
    expect(application).toMatchObject({ status: "FAILED", closing: null, nextCheckAt: null });
  });

  test("applyState changes the status to CANCELED while the link still has to be closed", () => {
    const application = aVendorApplication({ maxAttempts: 1 });
    apply(application, { status: "FAILED", attemptsUsed: 1 }, 10);
    expect(apply(application, { status: "CANCELED", stateHash: "h3" }, 20).emitted).toEqual(["KYC_CANCELED"]);
    expect(application).toMatchObject({ status: "CANCELED", closing: null, nextCheckAt: null });
  });

  test("closeReason returns EXPIRED later than a minute after the link's end, and undefined for the provider port", () => {
    const at = (seconds: number) => new Date(linkExpiresAt.getTime() + seconds * 1_000);
    expect(aVendorApplication().closeReason(at(59))).toBeUndefined();
    expect(aVendorApplication().closeReason(at(60))).toBe("EXPIRED");
    expect(anApplication().closeReason(at(60))).toBeUndefined();
    expect(aVendorApplication({ status: "SUBMITTED" }).closeReason(at(60))).toBeUndefined();
  });
});

describe("applyNotFound", () => {
  const afterLink = new Date(linkExpiresAt.getTime() + 60_000);
  const applyNotFound = (application: KycApplication, requestedAt: Date) => {
    const emittedChanges: string[] = [];
    application.applyNotFound(requestedAt, afterLink, (change) => emittedChanges.push(change));
    return emittedChanges;
  };

  test.each(checkedStatuses)(
    "applyNotFound changes a %s application to NEEDS_REVIEW if the read began a minute or more after the link's end",
    (status) => {
      const application = Object.assign(anApplicationIn(status), { provider: "sumsub" });
      expect(applyNotFound(application, new Date(afterLink.getTime() - 1))).toEqual([]);
      expect(application).toMatchObject({ status });
      expect(applyNotFound(application, afterLink)).toEqual(["KYC_NEEDS_REVIEW"]);
      expect(application).toMatchObject({ status: "COMPLETED", verdict: "NEEDS_REVIEW" });
      application.resolveReview("APPROVED", afterLink, () => {});
      expect(application).toMatchObject({ verdict: "APPROVED" });
    },
  );

  test.each(["CREATED", "OPENED", "FAILED", "COMPLETED", "EXPIRED", "CANCELED"] as const)(
    "applyNotFound does not change an application that is %s",
    (status) => {
      const application = Object.assign(anApplicationIn(status), { provider: "sumsub" });
      expect(applyNotFound(application, afterLink)).toEqual([]);
      expect(application).toMatchObject({ status });
    },
  );

  test("applyNotFound does not change an application of the provider port", () => {
    expect(applyNotFound(anApplicationIn("SUBMITTED"), afterLink)).toEqual([]);
  });
});
