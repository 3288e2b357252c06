import { describe, expect, test } from "vitest";
import { anApplication, aState, createdAt, linkExpiresAt } from "../../test/an-application.ts";
import type { ApplicationState, KycStatus } from "../verification-provider/verification-provider.ts";
import { kycStatuses, reasonCodes } from "../verification-provider/verification-provider.ts";
import { toKycApplicationMessage } from "./kyc-application.message.ts";
import type { KycApplication } from "./kyc-application.ts";

const later = new Date(createdAt.getTime() + 60_000);

/** Applies a provider's state and returns the changes for which events were emitted. */
function applyState(application: KycApplication, reported: Partial<ApplicationState>, now = later, requestedAt = now) {
  const emitted: string[] = [];
  const state = aState({ sequence: application.sequence + 1, ...reported });
  const result = application.applyState(state, { at: requestedAt }, now, (change) => emitted.push(change));
  return { result, emitted };
}

const inStatus = (status: KycStatus, attemptsUsed = status === "CREATED" || status === "OPENED" ? 0 : 1) =>
  anApplication({ status, attemptsUsed, sequence: 4, ...(status === "COMPLETED" ? { verdict: "APPROVED" } : {}) });
const beingChecked = ["SUBMITTED", "PROCESSING"] as const;

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

  test.each(cases)("changes %s to %s if allowed, and otherwise nothing", (from, to) => {
    const application = inStatus(from);
    const { emitted, result } = applyState(application, { status: to, attemptsUsed: application.attemptsUsed });
    const isLegal = allowedChanges[from].includes(to);
    expect(application.status).toBe(isLegal ? to : from);
    // After EXPIRED, the steps of a submission in time are accepted until its verdict follows.
    const isAccepted = isLegal || (from === "EXPIRED" && (to === "SUBMITTED" || to === "PROCESSING"));
    expect(result).toBe(isAccepted ? "applied" : "illegal");
    expect(emitted.at(-1)).toBe(isLegal ? `KYC_${to}` : undefined);
  });

  test.each(kycStatuses)("emits nothing for a repeated %s", (status) => {
    const application = inStatus(status);
    expect(applyState(application, { status, attemptsUsed: application.attemptsUsed })).toEqual({
      result: "applied",
      emitted: [],
    });
  });

  test.each(["OPENED", "SUBMITTED", "PROCESSING"] as const)("changes PROCESSING back to %s for a later attempt", (status) => {
    const application = inStatus("PROCESSING");
    applyState(application, { status, attemptsUsed: 2 });
    expect(application).toMatchObject({ status, attemptsUsed: 2 });
  });

  test("emits KYC_FAILED again for a later failed attempt", () => {
    const application = inStatus("FAILED");
    expect(applyState(application, { status: "FAILED", attemptsUsed: 2 }).emitted).toEqual(["KYC_FAILED"]);
    expect(applyState(application, { status: "FAILED", attemptsUsed: 2 }).emitted).toEqual([]);
  });

  // Only a failure can lead from a submission to these statuses.
  test.each(beingChecked.flatMap((from) => (["OPENED", "EXPIRED", "CANCELED"] as const).map((to) => [from, to] as const)))(
    "emits the missed KYC_FAILED between %s and %s",
    (from, to) => {
      const application = inStatus(from);
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
  ])("emits, from %s with %i attempts to %s with %i attempts, %j", (from, attempts, to, later, expected) => {
    const application = inStatus(from, attempts);
    expect(applyState(application, { status: to, attemptsUsed: later }).emitted).toEqual(expected);
    expect(application).toMatchObject({ status: to, attemptsUsed: Math.max(attempts, later) });
  });

  test.each(beingChecked)("changes %s to FAILED when the link expires without remaining attempts", (from) => {
    const application = inStatus(from, 3);
    expect(applyState(application, { status: "EXPIRED", attemptsUsed: 3 }).emitted).toEqual(["KYC_FAILED"]);
    expect(application).toMatchObject({ status: "FAILED" });
  });

  test.each(["OPENED", "SUBMITTED", "PROCESSING", "COMPLETED", "EXPIRED", "FAILED"] as const)(
    "ignores %s after the last attempt failed",
    (status) => {
      const application = inStatus("FAILED", 3);
      expect(applyState(application, { status, attemptsUsed: 4 }).emitted).toEqual([]);
      expect(application).toMatchObject({ status: "FAILED" });
      expect(application.isOpen()).toBe(false);
    },
  );

  test("changes to CANCELED also after the last attempt failed", () => {
    const application = inStatus("FAILED", 3);
    applyState(application, { status: "CANCELED", attemptsUsed: 3 });
    expect(application.status).toBe("CANCELED");
  });

  test("sets error_message while the status is FAILED", () => {
    const application = inStatus("PROCESSING");
    applyState(application, { status: "FAILED" });
    expect(toKycApplicationMessage(application).errorMessage).toContain("try again");
    applyState(application, { status: "OPENED" });
    expect(toKycApplicationMessage(application).errorMessage).toBeUndefined();
    applyState(application, { status: "FAILED", attemptsUsed: 3 });
    expect(toKycApplicationMessage(application).errorMessage).toContain("no attempt remains");
  });
});

describe("applyState, ignored states", () => {
  test.each([4, 3, 0])("changes only synced_at for sequence %i after 4", (sequence) => {
    const application = inStatus("OPENED");
    expect(applyState(application, { sequence })).toEqual({ result: "stale", emitted: [] });
    expect(application).toMatchObject({ status: "OPENED", sequence: 4, syncedAt: later });
  });

  test.each([{ reference: "another" }, { providerId: "another" }])("changes nothing for a state with %o", (other) => {
    const application = inStatus("OPENED");
    expect(applyState(application, other)).toEqual({ result: "mismatch", emitted: [] });
    expect(application).toMatchObject({ status: "OPENED", sequence: 4, syncedAt: createdAt });
  });
});

describe("applyState, verdict", () => {
  const completed = (state: Partial<ApplicationState>, changes: Partial<KycApplication> = {}) => {
    const application = anApplication({ status: "PROCESSING", attemptsUsed: 1, ...changes });
    const { emitted } = applyState(application, state);
    return { verdict: application.verdict, emitted, codes: application.reasonCodes, application };
  };

  test.each([
    ["APPROVED", "KYC_COMPLETED"],
    ["REJECTED", "KYC_REJECTED"],
    ["NEEDS_REVIEW", "KYC_NEEDS_REVIEW"],
  ] as const)("emits, for the verdict %s, %s", (verdict, change) => {
    expect(completed({ verdict })).toMatchObject({ verdict, emitted: [change] });
  });

  test.each<[string, Partial<ApplicationState>, Partial<KycApplication>, string[]]>([
    ["a hit in a sanctions list", { amlHitCount: 1, amlDecision: "CLEAR" }, {}, ["AML_MATCH"]],
    ["a possible match", { amlDecision: "POSSIBLE_MATCH" }, {}, []],
    ["a still instead of a video", { livenessOutcome: "PASSED" }, { requireVideo: false }, []],
    ["a profile that differs", { reasonCodes: ["PROFILE_MISMATCH"] }, {}, ["PROFILE_MISMATCH"]],
    ["another document", { documentType: "passport" }, { allowedDocuments: ["id_card"] }, ["DOCUMENT_NOT_ALLOWED"]],
    ["evidence that cannot be read", { unread: ["aml_decision"] }, {}, []],
    ["no evidence at all", { livenessOutcome: undefined, faceMatchOutcome: undefined, amlHitCount: undefined }, {}, []],
  ])("changes APPROVED with %s to NEEDS_REVIEW", (_name, state, changes, expected) => {
    expect(completed(state, changes)).toMatchObject({ verdict: "NEEDS_REVIEW", emitted: ["KYC_NEEDS_REVIEW"], codes: expected });
  });

  test.each(["APPROVED", "NEEDS_REVIEW", "REJECTED"] as const)("changes %s with an expired document to REJECTED", (verdict) => {
    const { verdict: result, codes, emitted } = completed({ verdict, documentExpiry: "2026-02-28" });
    expect({ result, codes, emitted }).toEqual({ result: "REJECTED", codes: ["DOCUMENT_EXPIRED"], emitted: ["KYC_REJECTED"] });
  });

  test("keeps APPROVED for a document on its last valid day", () => {
    expect(completed({ documentExpiry: "2026-03-01" }).verdict).toBe("APPROVED");
  });

  test("changes an unreadable verdict to NEEDS_REVIEW, and ignores a later approval of the provider", () => {
    const { verdict, emitted, application } = completed({ verdict: undefined, unread: ["verdict"] });
    expect({ verdict, emitted }).toEqual({ verdict: "NEEDS_REVIEW", emitted: ["KYC_NEEDS_REVIEW"] });
    expect(applyState(application, { verdict: "APPROVED" }).emitted).toEqual([]);
    expect(application.awaitsReview()).toBe(true);
    expect(application.isReviewedHere()).toBe(true);
  });

  test("returns our own text for the verdict and for every reason code", () => {
    const { application } = completed({ verdict: "REJECTED", reasonCodes: [...reasonCodes] });
    const { decisionSummary, reasonCodes: reasons } = toKycApplicationMessage(application);
    expect(reasons.map(({ code }) => code)).toEqual(reasonCodes);
    for (const { message } of reasons) expect(message).toMatch(/^[A-Z].*\.$/);
    expect(decisionSummary).toContain("failed");
  });

  test("changes REJECTED to NEEDS_REVIEW if PROFILE_MISMATCH is the only reason", () => {
    expect(completed({ verdict: "REJECTED", reasonCodes: ["PROFILE_MISMATCH"] }).verdict).toBe("NEEDS_REVIEW");
    expect(completed({ verdict: "REJECTED", reasonCodes: ["PROFILE_MISMATCH", "UNDERAGE"] }).verdict).toBe("REJECTED");
  });

  test("sets NOT_PERFORMED as the liveness outcome without a video, whatever the provider reports", () => {
    expect(completed({ livenessOutcome: "PASSED" }, { requireVideo: false }).application.livenessOutcome).toBe("NOT_PERFORMED");
  });
});

test.each(["REJECTED", "NEEDS_REVIEW"] as const)("applyState keeps a final verdict when the provider reports %s", (verdict) => {
  const application = anApplication({ status: "PROCESSING", attemptsUsed: 1 });
  applyState(application, {});
  expect(applyState(application, {}).result).toBe("applied");
  expect(applyState(application, { verdict })).toEqual({ result: "illegal", emitted: [] });
  expect(application.verdict).toBe("APPROVED");
});

describe("applyState, review", () => {
  const inReview = (state: Partial<ApplicationState> = { verdict: "NEEDS_REVIEW" }) => {
    const application = inStatus("PROCESSING");
    applyState(application, state);
    return application;
  };

  test.each(["APPROVED", "REJECTED"] as const)(
    "applies a decision %s of the provider as final, and emits only KYC_REVIEW_RESOLVED",
    (verdict) => {
      const application = inReview({ verdict: "NEEDS_REVIEW", amlHitCount: 2, amlDecision: "POSSIBLE_MATCH" });
      expect(applyState(application, { verdict, amlHitCount: 2 }).emitted).toEqual(["KYC_REVIEW_RESOLVED"]);
      expect(application).toMatchObject({ status: "COMPLETED", verdict });
      for (const next of ["APPROVED", "REJECTED", "NEEDS_REVIEW"] as const) {
        expect(applyState(application, { verdict: next }).emitted).toEqual([]);
        expect(application.verdict).toBe(verdict);
      }
    },
  );

  test("stays open after a repeated approval if only our rules require it", () => {
    const application = inReview({ amlHitCount: 1 });
    for (let times = 0; times < 3; times++) expect(applyState(application, { amlHitCount: 0 }).emitted).toEqual([]);
    expect(application).toMatchObject({ verdict: "NEEDS_REVIEW", amlHitCount: 1 });
  });

  test("stays open after an approval if our rules changed the provider's rejection to a review", () => {
    const application = inReview({ verdict: "REJECTED", reasonCodes: ["PROFILE_MISMATCH"] });
    expect(applyState(application, { verdict: "APPROVED" }).emitted).toEqual([]);
    expect(application.verdict).toBe("NEEDS_REVIEW");
  });

  test("ends with the provider's rejection, or with the provider's own review, if only our rules require it", () => {
    const rejected = inReview({ amlHitCount: 1 });
    expect(applyState(rejected, { verdict: "REJECTED" }).emitted).toEqual(["KYC_REVIEW_RESOLVED"]);
    const reviewed = inReview({ amlHitCount: 1 });
    expect(applyState(reviewed, { verdict: "NEEDS_REVIEW", amlHitCount: 1 }).emitted).toEqual([]);
    expect(applyState(reviewed, { verdict: "APPROVED", amlHitCount: 1 }).emitted).toEqual(["KYC_REVIEW_RESOLVED"]);
  });

  test("ends REJECTED if the document has expired in the meantime", () => {
    const application = inReview({ verdict: "NEEDS_REVIEW", documentExpiry: "2026-03-01" });
    const nextDay = new Date("2026-03-02T00:00:00.000Z");
    expect(applyState(application, { verdict: "APPROVED", documentExpiry: "2026-03-01" }, nextDay).emitted).toEqual([
      "KYC_REVIEW_RESOLVED",
    ]);
    expect(application).toMatchObject({ verdict: "REJECTED", reasonCodes: ["DOCUMENT_EXPIRED"] });
  });

  test("ends REJECTED for an expired document also if the decision omits its expiry", () => {
    const application = inReview({ verdict: "NEEDS_REVIEW", documentExpiry: "2026-03-01" });
    applyState(application, { verdict: "APPROVED", documentExpiry: undefined }, new Date("2026-03-02T00:00:00.000Z"));
    expect(application).toMatchObject({ verdict: "REJECTED", documentExpiry: "2026-03-01" });
  });

  test.each(["at the provider", "here"])("ends APPROVED without positive evidence if a person approves %s", (where) => {
    const doubts = { livenessOutcome: undefined, amlHitCount: undefined, unread: ["reason_codes"] };
    const application = inReview({ verdict: "NEEDS_REVIEW", ...doubts });
    if (where === "here") application.resolveReview("APPROVED", later, () => {});
    else applyState(application, { verdict: "APPROVED", ...doubts });
    expect(application).toMatchObject({ verdict: "APPROVED", reviewedAt: later });
  });
});

describe("link expiry", () => {
  const afterGrace = new Date(linkExpiresAt.getTime() + 61_000);

  test.each<[KycStatus, number, string[]]>([
    ["CREATED", 0, ["KYC_EXPIRED"]],
    ["OPENED", 0, ["KYC_EXPIRED"]],
    ["FAILED", 1, ["KYC_EXPIRED"]],
    ["FAILED", 3, []],
    ["SUBMITTED", 1, []],
    ["PROCESSING", 1, []],
  ])("emits, for %s after %i attempts, %j", (status, attemptsUsed, expected) => {
    const application = inStatus(status, attemptsUsed);
    expect(applyState(application, { status, attemptsUsed, sequence: 4 }, afterGrace).emitted).toEqual(expected);
  });

  test.each([0, 1])("does not expire the link by a request that began before the deadline (sequence newer by %i)", (newer) => {
    const application = inStatus("OPENED");
    const requestedAt = new Date(afterGrace.getTime() - 2_000);
    expect(
      applyState(application, { status: "OPENED", attemptsUsed: 0, sequence: 4 + newer }, afterGrace, requestedAt).emitted,
    ).toEqual([]);
    application.planCheck([300], afterGrace, { at: requestedAt });
    expect(application.nextCheckAt?.getTime()).toBeLessThanOrEqual(afterGrace.getTime());
    expect(applyState(application, { status: "OPENED", attemptsUsed: 0, sequence: 4 + newer }, afterGrace).emitted).toEqual([
      "KYC_EXPIRED",
    ]);
  });

  test("does not expire the link within a minute after the deadline", () => {
    const application = inStatus("OPENED");
    expect(applyState(application, { status: "OPENED", sequence: 4 }, linkExpiresAt).emitted).toEqual([]);
  });

  test("plans the next check at the latest for the deadline and for the end of the grace period", () => {
    const application = inStatus("OPENED");
    const plannedAt = (now: Date) => {
      application.nextCheckAt = null;
      application.planCheck([300, 3_600], now);
      return application.nextCheckAt;
    };
    expect(plannedAt(createdAt)).toEqual(new Date(createdAt.getTime() + 300_000));
    expect(plannedAt(new Date(linkExpiresAt.getTime() - 60_000))).toEqual(linkExpiresAt);
    expect(plannedAt(linkExpiresAt)).toEqual(new Date(linkExpiresAt.getTime() + 60_000));
    expect(plannedAt(afterGrace)).toEqual(new Date(afterGrace.getTime() + 3_600_000));
  });

  test("does not delay a check that is already due", () => {
    const application = inStatus("OPENED");
    application.checkSoon(createdAt);
    application.planCheck([300], later);
    expect(application.nextCheckAt).toEqual(createdAt);
  });

  test.each(["COMPLETED", "EXPIRED", "CANCELED"] as const)("plans no check for %s", (status) => {
    const application = inStatus(status);
    application.planCheck([300], createdAt);
    expect(application.nextCheckAt).toBeNull();
  });
});

describe("notifyDocumentExpiry", () => {
  const notices = (application: KycApplication, day: string) => {
    const emitted: string[] = [];
    application.notifyDocumentExpiry(new Date(`${day}T09:00:00Z`), (change) => emitted.push(change));
    return emitted;
  };
  const approved = (changes: Partial<KycApplication> = {}) =>
    anApplication({ status: "COMPLETED", verdict: "APPROVED", documentExpiry: "2026-06-30", ...changes });

  test("emits one event 30 days ahead, 7 days ahead and after the expiry", () => {
    const application = approved();
    const days = ["2026-05-30", "2026-05-31", "2026-06-01", "2026-06-22", "2026-06-23", "2026-06-30", "2026-07-01", "2026-07-02"];
    expect(days.map((day) => notices(application, day))).toEqual([
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

  test("emits only KYC_DOCUMENT_EXPIRED if the first run is after the expiry", () => {
    const application = approved();
    expect(notices(application, "2027-01-01")).toEqual(["KYC_DOCUMENT_EXPIRED"]);
    expect(notices(application, "2027-01-02")).toEqual([]);
  });

  test.each([{ verdict: "REJECTED" }, { verdict: "NEEDS_REVIEW" }, { documentExpiry: null }] as const)(
    "emits nothing for an application with %o",
    (changes) => {
      expect(notices(approved(changes), "2026-07-01")).toEqual([]);
    },
  );
});
