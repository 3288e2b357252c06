import { describe, expect, test } from "vitest";
import { anApplication, aState, createdAt, linkExpiresAt } from "../../test/an-application.ts";
import type { ApplicationState, KycStatus } from "../verification-provider/verification-provider.ts";
import { kycStatuses, reasonCodes } from "../verification-provider/verification-provider.ts";
import { toKycApplicationMessage } from "./kyc-application.message.ts";
import type { KycApplication } from "./kyc-application.ts";

const laterTime = new Date(createdAt.getTime() + 60_000);

/** Applies a provider's state. Returns the result and the changes for which events were emitted. */
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
  /** The allowed next statuses after each status, if the number of attempts does not change. */
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
  const cases = kycStatuses.flatMap((from) =>
    kycStatuses
      .filter((to) => to !== from)
      .map((to) => {
        const isLegal = allowedChanges[from].includes(to);
        const title = isLegal ? `changes the status ${from} to ${to}` : `keeps the status ${from} if the provider reports ${to}`;
        return { title, from, to, isLegal };
      }),
  );

  test.each(cases)("applyState $title", ({ from, to, isLegal }) => {
    const application = anApplicationIn(from);
    const { emitted, result } = applyState(application, { status: to, attemptsUsed: application.attemptsUsed });
    expect(application.status).toBe(isLegal ? to : from);
    // After EXPIRED, `applyState` accepts the statuses of a submission that was made before the
    // expiry, because a verdict on the submission will follow.
    const isAccepted = isLegal || (from === "EXPIRED" && (to === "SUBMITTED" || to === "PROCESSING"));
    expect(result).toBe(isAccepted ? "applied" : "illegal");
    expect(emitted.at(-1)).toBe(isLegal ? `KYC_${to}` : undefined);
  });

  test.each(kycStatuses)("applyState emits no event if the provider reports the status %s again", (status) => {
    const application = anApplicationIn(status);
    expect(applyState(application, { status, attemptsUsed: application.attemptsUsed })).toEqual({
      result: "applied",
      emitted: [],
    });
  });

  test.each(["OPENED", "SUBMITTED", "PROCESSING"] as const)(
    "applyState changes the status PROCESSING to %s if the provider reports a later attempt",
    (status) => {
      const application = anApplicationIn("PROCESSING");
      applyState(application, { status, attemptsUsed: 2 });
      expect(application).toMatchObject({ status, attemptsUsed: 2 });
    },
  );

  test("applyState emits KYC_FAILED again if a later attempt fails", () => {
    const application = anApplicationIn("FAILED");
    expect(applyState(application, { status: "FAILED", attemptsUsed: 2 }).emitted).toEqual(["KYC_FAILED"]);
    expect(applyState(application, { status: "FAILED", attemptsUsed: 2 }).emitted).toEqual([]);
  });

  // After a submission, the provider can report these statuses only if the attempt failed.
  test.each(checkedStatuses.flatMap((from) => (["OPENED", "EXPIRED", "CANCELED"] as const).map((to) => [from, to] as const)))(
    "applyState emits KYC_FAILED first if the status changes from %s to %s without a reported failure of the attempt",
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
    // The provider counts more attempts than kyc requested.
    ["PROCESSING", 3, "COMPLETED", 4, ["KYC_COMPLETED"]],
    ["OPENED", 0, "COMPLETED", 5, ["KYC_FAILED", "KYC_COMPLETED"]],
    ["SUBMITTED", 3, "PROCESSING", 4, ["KYC_PROCESSING"]],
    ["PROCESSING", 2, "OPENED", 3, ["KYC_FAILED", "KYC_OPENED"]],
    ["CREATED", 0, "CREATED", 1, []],
  ])(
    "applyState, for the change from %s with %i attempts to %s with %i attempts, emits %j",
    (from, attemptsBefore, to, laterTime, expectedChanges) => {
      const application = anApplicationIn(from, attemptsBefore);
      expect(applyState(application, { status: to, attemptsUsed: laterTime }).emitted).toEqual(expectedChanges);
      expect(application).toMatchObject({ status: to, attemptsUsed: Math.max(attemptsBefore, laterTime) });
    },
  );

  test.each(checkedStatuses)(
    "applyState changes the status %s to FAILED if the provider reports EXPIRED and no attempt remains",
    (from) => {
      const application = anApplicationIn(from, 3);
      expect(applyState(application, { status: "EXPIRED", attemptsUsed: 3 }).emitted).toEqual(["KYC_FAILED"]);
      expect(application).toMatchObject({ status: "FAILED" });
    },
  );

  test.each(["OPENED", "SUBMITTED", "PROCESSING", "COMPLETED", "EXPIRED", "FAILED"] as const)(
    "applyState ignores the reported status %s after the last attempt has failed",
    (status) => {
      const application = anApplicationIn("FAILED", 3);
      expect(applyState(application, { status, attemptsUsed: 4 }).emitted).toEqual([]);
      expect(application).toMatchObject({ status: "FAILED" });
      expect(application.isOpen()).toBe(false);
    },
  );

  test("applyState changes the status to CANCELED even after the last attempt has failed", () => {
    const application = anApplicationIn("FAILED", 3);
    applyState(application, { status: "CANCELED", attemptsUsed: 3 });
    expect(application.status).toBe("CANCELED");
  });

  test("toKycApplicationMessage sets `errorMessage` only if the status is FAILED", () => {
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
  test.each([4, 3, 0])(
    "applyState changes only `syncedAt` if the state has the sequence %i and the stored sequence is 4",
    (sequence) => {
      const application = anApplicationIn("OPENED");
      expect(applyState(application, { sequence })).toEqual({ result: "stale", emitted: [] });
      expect(application).toMatchObject({ status: "OPENED", sequence: 4, syncedAt: laterTime });
    },
  );

  test.each([{ reference: "another" }, { providerId: "another" }])(
    "applyState returns the result `mismatch` and changes nothing for a state with %o",
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
    ["an AML hit", { amlHitCount: 1, amlDecision: "CLEAR" }, {}, ["AML_MATCH"]],
    ["a possible AML match", { amlDecision: "POSSIBLE_MATCH" }, {}, []],
    ["a photo instead of a video", { livenessOutcome: "PASSED" }, { requireVideo: false }, []],
    ["a document that differs from the profile", { reasonCodes: ["PROFILE_MISMATCH"] }, {}, ["PROFILE_MISMATCH"]],
    [
      "a document type that is not allowed",
      { documentType: "passport" },
      { allowedDocuments: ["id_card"] },
      ["DOCUMENT_NOT_ALLOWED"],
    ],
    ["evidence that cannot be read", { unread: ["aml_decision"] }, {}, []],
    ["no evidence at all", { livenessOutcome: undefined, faceMatchOutcome: undefined, amlHitCount: undefined }, {}, []],
  ])(
    "applyState stores NEEDS_REVIEW instead of the provider's verdict APPROVED for %s",
    (_name, state, changes, expectedChanges) => {
      expect(completeApplication(state, changes)).toMatchObject({
        verdict: "NEEDS_REVIEW",
        emitted: ["KYC_NEEDS_REVIEW"],
        codes: expectedChanges,
      });
    },
  );

  test.each(["APPROVED", "NEEDS_REVIEW", "REJECTED"] as const)(
    "applyState stores REJECTED instead of the provider's verdict %s for an expired document",
    (verdict) => {
      const { verdict: result, codes, emitted } = completeApplication({ verdict, documentExpiry: "2026-02-28" });
      expect({ result, codes, emitted }).toEqual({ result: "REJECTED", codes: ["DOCUMENT_EXPIRED"], emitted: ["KYC_REJECTED"] });
    },
  );

  test("applyState stores APPROVED for a document that expires on the day of the verdict", () => {
    expect(completeApplication({ documentExpiry: "2026-03-01" }).verdict).toBe("APPROVED");
  });

  test("applyState stores NEEDS_REVIEW for a verdict that kyc cannot read, and ignores a later approval", () => {
    const { verdict, emitted, application } = completeApplication({ verdict: undefined, unread: ["verdict"] });
    expect({ verdict, emitted }).toEqual({ verdict: "NEEDS_REVIEW", emitted: ["KYC_NEEDS_REVIEW"] });
    expect(applyState(application, { verdict: "APPROVED" }).emitted).toEqual([]);
    expect(application.awaitsReview()).toBe(true);
    expect(application.isReviewRequiredByOurRules()).toBe(true);
  });

  test("toKycApplicationMessage returns Amana's own text for the verdict and for every reason code", () => {
    const { application } = completeApplication({ verdict: "REJECTED", reasonCodes: [...reasonCodes] });
    const { decisionSummary, reasonCodes: reasons } = toKycApplicationMessage(application);
    expect(reasons.map(({ code }) => code)).toEqual(reasonCodes);
    for (const { message } of reasons) expect(message).toMatch(/^[A-Z].*\.$/);
    expect(decisionSummary).toContain("failed");
  });

  test("applyState stores NEEDS_REVIEW instead of REJECTED if PROFILE_MISMATCH is the only reason", () => {
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
  "applyState keeps the verdict APPROVED if the provider later reports %s",
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
    "applyState stores the provider's decision %s on a review, ignores later verdicts, and emits only KYC_REVIEW_RESOLVED",
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

  test("applyState keeps a review open if only Amana's rules require the review and the provider repeats its approval", () => {
    const application = anApplicationInReview({ amlHitCount: 1 });
    for (let repetition = 0; repetition < 3; repetition++)
      expect(applyState(application, { amlHitCount: 0 }).emitted).toEqual([]);
    expect(application).toMatchObject({ verdict: "NEEDS_REVIEW", amlHitCount: 1 });
  });

  test("applyState keeps a review open if it began with the provider's rejection, even if the provider approves later", () => {
    const application = anApplicationInReview({ verdict: "REJECTED", reasonCodes: ["PROFILE_MISMATCH"] });
    expect(applyState(application, { verdict: "APPROVED" }).emitted).toEqual([]);
    expect(application.verdict).toBe("NEEDS_REVIEW");
  });

  test("applyState ends a review (required by Amana's rules) when the provider rejects the application, or when the provider's own review ends", () => {
    const rejectedApplication = anApplicationInReview({ amlHitCount: 1 });
    expect(applyState(rejectedApplication, { verdict: "REJECTED" }).emitted).toEqual(["KYC_REVIEW_RESOLVED"]);
    const reviewedApplication = anApplicationInReview({ amlHitCount: 1 });
    expect(applyState(reviewedApplication, { verdict: "NEEDS_REVIEW", amlHitCount: 1 }).emitted).toEqual([]);
    expect(applyState(reviewedApplication, { verdict: "APPROVED", amlHitCount: 1 }).emitted).toEqual(["KYC_REVIEW_RESOLVED"]);
  });

  test("applyState ends a review with REJECTED if the provider approves after the document has expired", () => {
    const application = anApplicationInReview({ verdict: "NEEDS_REVIEW", documentExpiry: "2026-03-01" });
    const nextDay = new Date("2026-03-02T00:00:00.000Z");
    expect(applyState(application, { verdict: "APPROVED", documentExpiry: "2026-03-01" }, nextDay).emitted).toEqual([
      "KYC_REVIEW_RESOLVED",
    ]);
    expect(application).toMatchObject({ verdict: "REJECTED", reasonCodes: ["DOCUMENT_EXPIRED"] });
  });

  test("applyState ends a review with REJECTED if the stored document expiry has passed, even if the provider's approval omits the expiry", () => {
    const application = anApplicationInReview({ verdict: "NEEDS_REVIEW", documentExpiry: "2026-03-01" });
    applyState(application, { verdict: "APPROVED", documentExpiry: undefined }, new Date("2026-03-02T00:00:00.000Z"));
    expect(application).toMatchObject({ verdict: "REJECTED", documentExpiry: "2026-03-01" });
  });

  test.each(["at the provider", "in Amana"])(
    "KycApplication ends a review with APPROVED after a person's approval %s, even if the evidence is not positive",
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
  ])(
    "applyState, for the status %s with %i attempts after the grace period of the link, emits the events %j",
    (status, attemptsUsed, expectedChanges) => {
      const application = anApplicationIn(status, attemptsUsed);
      expect(applyState(application, { status, attemptsUsed, sequence: 4 }, afterGrace).emitted).toEqual(expectedChanges);
    },
  );

  test.each([0, 1])(
    "applyState does not set the status EXPIRED if the read began before the link's grace period ended (the sequence has increased by %i)",
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

  test("applyState does not set the status EXPIRED when the link has expired but its grace period has not ended", () => {
    const application = anApplicationIn("OPENED");
    expect(applyState(application, { status: "OPENED", sequence: 4 }, linkExpiresAt).emitted).toEqual([]);
  });

  test("planCheck plans a check at the link's expiry and another check at the end of the link's grace period", () => {
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

  test.each(["COMPLETED", "EXPIRED", "CANCELED"] as const)("planCheck plans no check for a %s application", (status) => {
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

  test("KycApplication.notifyDocumentExpiry emits one event 30 days before, one 7 days before and one after the expiry", () => {
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

  test("KycApplication.notifyDocumentExpiry emits only KYC_DOCUMENT_EXPIRED if its first call is after the expiry", () => {
    const application = anApprovedApplication();
    expect(emitNotices(application, "2027-01-01")).toEqual(["KYC_DOCUMENT_EXPIRED"]);
    expect(emitNotices(application, "2027-01-02")).toEqual([]);
  });

  test.each([{ verdict: "REJECTED" }, { verdict: "NEEDS_REVIEW" }, { documentExpiry: null }] as const)(
    "KycApplication.notifyDocumentExpiry emits no event for an application with %o",
    (changes) => {
      expect(emitNotices(anApprovedApplication(changes), "2026-07-01")).toEqual([]);
    },
  );
});

describe("applyState, states without a sequence", () => {
  const aVendorApplication = (changes: Partial<KycApplication> = {}) => anApplication({ provider: "didit", ...changes });
  const timeAfter = (seconds: number) => new Date(createdAt.getTime() + seconds * 1_000);
  /**
   * Applies the response to a request that began at `seconds` and ended at `endSeconds` after the
   * creation.
   */
  const apply = (
    application: KycApplication,
    stateFields: Partial<ApplicationState>,
    seconds: number,
    closing?: "USED_UP",
    endSeconds = seconds + 1,
  ) => {
    const emitted: string[] = [];
    const state = aState({ sequence: undefined, stateHash: "h1", ...stateFields });
    const start = { at: timeAfter(seconds), nextCheckAt: application.nextCheckAt, closing };
    const result = application.applyState(state, start, timeAfter(endSeconds), (change) => emitted.push(change));
    application.planCheck([300, 600], timeAfter(endSeconds), start);
    return { result, emitted };
  };

  test("applyState returns `stale` if the state hash is unchanged, and plans the next check after a longer pause", () => {
    const application = aVendorApplication();
    expect(apply(application, { status: "OPENED" }, 10).result).toBe("applied");
    expect(application).toMatchObject({ sequence: 1, checks: 1 });
    expect(apply(application, { status: "OPENED" }, 20).result).toBe("stale");
    expect(application).toMatchObject({ sequence: 1, checks: 2, nextCheckAt: timeAfter(621) });
  });

  test("applyState ignores the response to an older request, and plans an immediate check if the response's hash differs", () => {
    const application = aVendorApplication();
    apply(application, { status: "COMPLETED", verdict: "NEEDS_REVIEW", stateHash: "h2" }, 20);
    const plannedAt = application.nextCheckAt;
    expect(apply(application, { status: "OPENED", stateHash: "h1" }, 10, undefined, 22).result).toBe("stale");
    expect(application).toMatchObject({ status: "COMPLETED", sequence: 1, nextCheckAt: timeAfter(22) });
    expect(plannedAt).not.toEqual(timeAfter(22));
  });

  test("applyState ignores the response to an older request, and plans no immediate check if the response's hash equals the stored hash", () => {
    const application = aVendorApplication();
    apply(application, { status: "OPENED" }, 20);
    expect(apply(application, { status: "OPENED" }, 10, undefined, 22).result).toBe("stale");
    expect(application.nextCheckAt?.getTime()).toBeGreaterThan(timeAfter(22).getTime());
  });

  test("applyState plans a check to close the link after the last attempt has failed, and plans no check after the link is closed", () => {
    const application = aVendorApplication({ provider: "sumsub", maxAttempts: 1 });
    expect(apply(application, { status: "FAILED", attemptsUsed: 1 }, 10).emitted).toEqual(["KYC_FAILED"]);
    expect(application).toMatchObject({ closing: "USED_UP", nextCheckAt: timeAfter(11) });
    expect(application.closeReason(timeAfter(12))).toBe("USED_UP");
    // Simulates that the applicant submitted again before the link was closed.
    expect(apply(application, { status: "SUBMITTED", attemptsUsed: 2, stateHash: "h2" }, 20, "USED_UP").result).toBe("stale");
    expect(application).toMatchObject({ status: "FAILED", closing: "USED_UP" });
    expect(application.nextCheckAt).not.toBeNull();
    expect(apply(application, { status: "FAILED", stateHash: "closed" }, 30, "USED_UP").result).toBe("applied");
    expect(application).toMatchObject({ status: "FAILED", closing: null, nextCheckAt: null });
  });

  test("applyState changes the status of a FAILED application to CANCELED, even before the application's link is closed", () => {
    const application = aVendorApplication({ maxAttempts: 1 });
    apply(application, { status: "FAILED", attemptsUsed: 1 }, 10);
    expect(apply(application, { status: "CANCELED", stateHash: "h3" }, 20).emitted).toEqual(["KYC_CANCELED"]);
    expect(application).toMatchObject({ status: "CANCELED", closing: null, nextCheckAt: null });
  });

  test("closeReason returns EXPIRED from 60 seconds after a vendor's link expires, and undefined for the provider `port`", () => {
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
    "applyNotFound completes a %s application with NEEDS_REVIEW if the read began at least a minute after the link expired",
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
    "applyNotFound does not change a %s application",
    (status) => {
      const application = Object.assign(anApplicationIn(status), { provider: "sumsub" });
      expect(applyNotFound(application, afterLink)).toEqual([]);
      expect(application).toMatchObject({ status });
    },
  );

  test("applyNotFound does not change an application whose provider is `port`", () => {
    expect(applyNotFound(anApplicationIn("SUBMITTED"), afterLink)).toEqual([]);
  });
});
