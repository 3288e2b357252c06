import { describe, expect, test } from "vitest";
import { anApplication, aState, createdAt, linkExpiresAt } from "../../test/an-application.ts";
import type { ApplicationState, KycStatus } from "../verification-provider/verification-provider.ts";
import { kycStatuses, reasonCodes } from "../verification-provider/verification-provider.ts";
import { toKycApplicationMessage } from "./kyc-application.message.ts";
import type { KycApplication } from "./kyc-application.ts";

const later = new Date(createdAt.getTime() + 60_000);

/** Applies a provider's state and returns the changes for which events were emitted. */
function applyState(application: KycApplication, said: Partial<ApplicationState>, now = later, askedAt = now) {
  const announced: string[] = [];
  const state = aState({ sequence: application.sequence + 1, ...said });
  const takeover = application.applyState(state, { at: askedAt }, now, (change) => announced.push(change));
  return { takeover, announced };
}

const inStatus = (status: KycStatus, attemptsUsed = status === "CREATED" || status === "OPENED" ? 0 : 1) =>
  anApplication({ status, attemptsUsed, sequence: 4, ...(status === "COMPLETED" ? { verdict: "APPROVED" } : {}) });
const beingChecked = ["SUBMITTED", "PROCESSING"] as const;

describe("a move", () => {
  /** For each status: what the provider's next word may make of it, without another attempt. */
  const moves: Record<KycStatus, readonly KycStatus[]> = {
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

  test.each(cases)("from %s to %s is legal or changes nothing", (from, to) => {
    const application = inStatus(from);
    const { announced, takeover } = applyState(application, { status: to, attemptsUsed: application.attemptsUsed });
    const isLegal = moves[from].includes(to);
    expect(application.status).toBe(isLegal ? to : from);
    // After EXPIRED, the steps of a submission in time are accepted until its verdict follows.
    const isAccepted = isLegal || (from === "EXPIRED" && (to === "SUBMITTED" || to === "PROCESSING"));
    expect(takeover).toBe(isAccepted ? "taken" : "illegal");
    expect(announced.at(-1)).toBe(isLegal ? `KYC_${to}` : undefined);
  });

  test.each(kycStatuses)("to %s that is already made announces nothing", (status) => {
    const application = inStatus(status);
    expect(applyState(application, { status, attemptsUsed: application.attemptsUsed })).toEqual({
      takeover: "taken",
      announced: [],
    });
  });

  test.each(["OPENED", "SUBMITTED", "PROCESSING"] as const)("back to %s is a retry when attempts went up", (status) => {
    const application = inStatus("PROCESSING");
    applyState(application, { status, attemptsUsed: 2 });
    expect(application).toMatchObject({ status, attemptsUsed: 2 });
  });

  test("to FAILED again is a new fact when attempts went up", () => {
    const application = inStatus("FAILED");
    expect(applyState(application, { status: "FAILED", attemptsUsed: 2 }).announced).toEqual(["KYC_FAILED"]);
    expect(applyState(application, { status: "FAILED", attemptsUsed: 2 }).announced).toEqual([]);
  });

  // From a submission only a failure leads there, and one that stayed would stay for ever.
  test.each(beingChecked.flatMap((from) => (["OPENED", "EXPIRED", "CANCELED"] as const).map((to) => [from, to] as const)))(
    "from %s to %s announces the failure in between, although nobody saw it",
    (from, to) => {
      const application = inStatus(from);
      expect(applyState(application, { status: to, attemptsUsed: 1 }).announced).toEqual(["KYC_FAILED", `KYC_${to}`]);
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
    // The provider counts more attempts than were asked for.
    ["PROCESSING", 3, "COMPLETED", 4, ["KYC_COMPLETED"]],
    ["OPENED", 0, "COMPLETED", 5, ["KYC_FAILED", "KYC_COMPLETED"]],
    ["SUBMITTED", 3, "PROCESSING", 4, ["KYC_PROCESSING"]],
    ["PROCESSING", 2, "OPENED", 3, ["KYC_FAILED", "KYC_OPENED"]],
    ["CREATED", 0, "CREATED", 1, []],
  ])("from %s with %i attempts to %s with %i attempts emits %j", (from, attempts, to, later, expected) => {
    const application = inStatus(from, attempts);
    expect(applyState(application, { status: to, attemptsUsed: later }).announced).toEqual(expected);
    expect(application).toMatchObject({ status: to, attemptsUsed: Math.max(attempts, later) });
  });

  test.each(beingChecked)("from %s to the end of a link without attempts ends in FAILED", (from) => {
    const application = inStatus(from, 3);
    expect(applyState(application, { status: "EXPIRED", attemptsUsed: 3 }).announced).toEqual(["KYC_FAILED"]);
    expect(application).toMatchObject({ status: "FAILED" });
  });

  test.each(["OPENED", "SUBMITTED", "PROCESSING", "COMPLETED", "EXPIRED", "FAILED"] as const)(
    "to %s does not happen once the attempts are used up",
    (status) => {
      const application = inStatus("FAILED", 3);
      expect(applyState(application, { status, attemptsUsed: 4 }).announced).toEqual([]);
      expect(application).toMatchObject({ status: "FAILED" });
      expect(application.isOpen()).toBe(false);
    },
  );

  test("to CANCELED happens also once the attempts are used up", () => {
    const application = inStatus("FAILED", 3);
    applyState(application, { status: "CANCELED", attemptsUsed: 3 });
    expect(application.status).toBe("CANCELED");
  });

  test("shows why it failed, in our words, until the applicant tries again", () => {
    const application = inStatus("PROCESSING");
    applyState(application, { status: "FAILED" });
    expect(toKycApplicationMessage(application).errorMessage).toContain("try again");
    applyState(application, { status: "OPENED" });
    expect(toKycApplicationMessage(application).errorMessage).toBeUndefined();
    applyState(application, { status: "FAILED", attemptsUsed: 3 });
    expect(toKycApplicationMessage(application).errorMessage).toContain("no attempt is left");
  });
});

describe("what is not newer, or not ours", () => {
  test.each([4, 3, 0])("sequence %i after 4 changes nothing but the time of contact", (sequence) => {
    const application = inStatus("OPENED");
    expect(applyState(application, { sequence })).toEqual({ takeover: "stale", announced: [] });
    expect(application).toMatchObject({ status: "OPENED", sequence: 4, syncedAt: later });
  });

  test.each([{ reference: "another" }, { providerId: "another" }])("%o changes nothing at all", (other) => {
    const application = inStatus("OPENED");
    expect(applyState(application, other)).toEqual({ takeover: "mismatch", announced: [] });
    expect(application).toMatchObject({ status: "OPENED", sequence: 4, syncedAt: createdAt });
  });
});

describe("a verdict", () => {
  const completed = (said: Partial<ApplicationState>, changes: Partial<KycApplication> = {}) => {
    const application = anApplication({ status: "PROCESSING", attemptsUsed: 1, ...changes });
    const { announced } = applyState(application, said);
    return { verdict: application.verdict, announced, codes: application.reasonCodes, application };
  };

  test.each([
    ["APPROVED", "KYC_COMPLETED"],
    ["REJECTED", "KYC_REJECTED"],
    ["NEEDS_REVIEW", "KYC_NEEDS_REVIEW"],
  ] as const)("%s is announced as %s", (verdict, change) => {
    expect(completed({ verdict })).toMatchObject({ verdict, announced: [change] });
  });

  test.each<[string, Partial<ApplicationState>, Partial<KycApplication>, string[]]>([
    ["a hit in a sanctions list", { amlHitCount: 1, amlDecision: "CLEAR" }, {}, ["AML_MATCH"]],
    ["a possible match", { amlDecision: "POSSIBLE_MATCH" }, {}, []],
    ["a still instead of a video", { livenessOutcome: "PASSED" }, { requireVideo: false }, []],
    ["a profile that differs", { reasonCodes: ["PROFILE_MISMATCH"] }, {}, ["PROFILE_MISMATCH"]],
    ["another document", { documentType: "passport" }, { allowedDocuments: ["id_card"] }, ["DOCUMENT_NOT_ALLOWED"]],
    ["evidence that cannot be read", { unread: ["aml_decision"] }, {}, []],
    ["no evidence at all", { livenessOutcome: undefined, faceMatchOutcome: undefined, amlHitCount: undefined }, {}, []],
  ])("APPROVED despite %s goes to review", (_name, said, changes, expected) => {
    expect(completed(said, changes)).toMatchObject({ verdict: "NEEDS_REVIEW", announced: ["KYC_NEEDS_REVIEW"], codes: expected });
  });

  test.each(["APPROVED", "NEEDS_REVIEW", "REJECTED"] as const)("%s of an expired document is a rejection", (verdict) => {
    const { verdict: ours, codes, announced } = completed({ verdict, documentExpiry: "2026-02-28" });
    expect({ ours, codes, announced }).toEqual({ ours: "REJECTED", codes: ["DOCUMENT_EXPIRED"], announced: ["KYC_REJECTED"] });
  });

  test("of a document on its last day is not a rejection", () => {
    expect(completed({ documentExpiry: "2026-03-01" }).verdict).toBe("APPROVED");
  });

  test("that nobody can read goes to review, and no later approval passes for a person's", () => {
    const { verdict, announced, application } = completed({ verdict: undefined, unread: ["verdict"] });
    expect({ verdict, announced }).toEqual({ verdict: "NEEDS_REVIEW", announced: ["KYC_NEEDS_REVIEW"] });
    expect(applyState(application, { verdict: "APPROVED" }).announced).toEqual([]);
    expect(application.awaitsReview()).toBe(true);
    expect(application.isReviewedHere()).toBe(true);
  });

  test("is told in our words, every reason with its message", () => {
    const { application } = completed({ verdict: "REJECTED", reasonCodes: [...reasonCodes] });
    const { decisionSummary, reasonCodes: told } = toKycApplicationMessage(application);
    expect(told.map(({ code }) => code)).toEqual(reasonCodes);
    for (const { message } of told) expect(message).toMatch(/^[A-Z].*\.$/);
    expect(decisionSummary).toContain("failed");
  });

  test("REJECTED for the profile alone goes to review, with another reason it stays", () => {
    expect(completed({ verdict: "REJECTED", reasonCodes: ["PROFILE_MISMATCH"] }).verdict).toBe("NEEDS_REVIEW");
    expect(completed({ verdict: "REJECTED", reasonCodes: ["PROFILE_MISMATCH", "UNDERAGE"] }).verdict).toBe("REJECTED");
  });

  test("without a video says that liveness was not performed, whatever the provider says", () => {
    expect(completed({ livenessOutcome: "PASSED" }, { requireVideo: false }).application.livenessOutcome).toBe("NOT_PERFORMED");
  });
});

test.each(["REJECTED", "NEEDS_REVIEW"] as const)("a final verdict is not changed by %s, which should not be said", (verdict) => {
  const application = anApplication({ status: "PROCESSING", attemptsUsed: 1 });
  applyState(application, {});
  expect(applyState(application, {}).takeover).toBe("taken");
  expect(applyState(application, { verdict })).toEqual({ takeover: "illegal", announced: [] });
  expect(application.verdict).toBe("APPROVED");
});

describe("a review", () => {
  const inReview = (said: Partial<ApplicationState> = { verdict: "NEEDS_REVIEW" }) => {
    const application = inStatus("PROCESSING");
    applyState(application, said);
    return application;
  };

  test.each(["APPROVED", "REJECTED"] as const)(
    "decided %s at the provider is announced as that only, and is final",
    (verdict) => {
      const application = inReview({ verdict: "NEEDS_REVIEW", amlHitCount: 2, amlDecision: "POSSIBLE_MATCH" });
      expect(applyState(application, { verdict, amlHitCount: 2 }).announced).toEqual(["KYC_REVIEW_RESOLVED"]);
      expect(application).toMatchObject({ status: "COMPLETED", verdict });
      for (const next of ["APPROVED", "REJECTED", "NEEDS_REVIEW"] as const) {
        expect(applyState(application, { verdict: next }).announced).toEqual([]);
        expect(application.verdict).toBe(verdict);
      }
    },
  );

  test("that only our rules asked for is not decided by the provider saying APPROVED again", () => {
    const application = inReview({ amlHitCount: 1 });
    for (let times = 0; times < 3; times++) expect(applyState(application, { amlHitCount: 0 }).announced).toEqual([]);
    expect(application).toMatchObject({ verdict: "NEEDS_REVIEW", amlHitCount: 1 });
  });

  test("that only our rules made of a rejection is not decided by the provider saying APPROVED of itself", () => {
    const application = inReview({ verdict: "REJECTED", reasonCodes: ["PROFILE_MISMATCH"] });
    expect(applyState(application, { verdict: "APPROVED" }).announced).toEqual([]);
    expect(application.verdict).toBe("NEEDS_REVIEW");
  });

  test("that only our rules asked for can be decided by the provider's rejection, or by its own review", () => {
    const rejected = inReview({ amlHitCount: 1 });
    expect(applyState(rejected, { verdict: "REJECTED" }).announced).toEqual(["KYC_REVIEW_RESOLVED"]);
    const reviewed = inReview({ amlHitCount: 1 });
    expect(applyState(reviewed, { verdict: "NEEDS_REVIEW", amlHitCount: 1 }).announced).toEqual([]);
    expect(applyState(reviewed, { verdict: "APPROVED", amlHitCount: 1 }).announced).toEqual(["KYC_REVIEW_RESOLVED"]);
  });

  test("of a document that has expired meanwhile ends REJECTED", () => {
    const application = inReview({ verdict: "NEEDS_REVIEW", documentExpiry: "2026-03-01" });
    const nextDay = new Date("2026-03-02T00:00:00.000Z");
    expect(applyState(application, { verdict: "APPROVED", documentExpiry: "2026-03-01" }, nextDay).announced).toEqual([
      "KYC_REVIEW_RESOLVED",
    ]);
    expect(application).toMatchObject({ verdict: "REJECTED", reasonCodes: ["DOCUMENT_EXPIRED"] });
  });

  test("of a document that has expired ends REJECTED also when the decision does not repeat its last day", () => {
    const application = inReview({ verdict: "NEEDS_REVIEW", documentExpiry: "2026-03-01" });
    applyState(application, { verdict: "APPROVED", documentExpiry: undefined }, new Date("2026-03-02T00:00:00.000Z"));
    expect(application).toMatchObject({ verdict: "REJECTED", documentExpiry: "2026-03-01" });
  });

  test.each(["at the provider", "here"])("decided %s is a person's: no evidence is asked for again", (where) => {
    const doubts = { livenessOutcome: undefined, amlHitCount: undefined, unread: ["reason_codes"] };
    const application = inReview({ verdict: "NEEDS_REVIEW", ...doubts });
    if (where === "here") application.resolveReview("APPROVED", later, () => {});
    else applyState(application, { verdict: "APPROVED", ...doubts });
    expect(application).toMatchObject({ verdict: "APPROVED", reviewedAt: later });
  });
});

describe("the link's end", () => {
  const lapsed = new Date(linkExpiresAt.getTime() + 61_000);

  test.each<[KycStatus, number, string[]]>([
    ["CREATED", 0, ["KYC_EXPIRED"]],
    ["OPENED", 0, ["KYC_EXPIRED"]],
    ["FAILED", 1, ["KYC_EXPIRED"]],
    ["FAILED", 3, []],
    ["SUBMITTED", 1, []],
    ["PROCESSING", 1, []],
  ])("of %s after %i attempts announces %j", (status, attemptsUsed, expected) => {
    const application = inStatus(status, attemptsUsed);
    expect(applyState(application, { status, attemptsUsed, sequence: 4 }, lapsed).announced).toEqual(expected);
  });

  test.each([0, 1])("a request that began before the deadline does not expire the link (sequence newer by %i)", (newer) => {
    const application = inStatus("OPENED");
    const askedAt = new Date(lapsed.getTime() - 2_000);
    expect(
      applyState(application, { status: "OPENED", attemptsUsed: 0, sequence: 4 + newer }, lapsed, askedAt).announced,
    ).toEqual([]);
    application.planCheck([300], lapsed, { at: askedAt });
    expect(application.nextCheckAt?.getTime()).toBeLessThanOrEqual(lapsed.getTime());
    expect(applyState(application, { status: "OPENED", attemptsUsed: 0, sequence: 4 + newer }, lapsed).announced).toEqual([
      "KYC_EXPIRED",
    ]);
  });

  test("leaves a minute for what is on its way", () => {
    const application = inStatus("OPENED");
    expect(applyState(application, { status: "OPENED", sequence: 4 }, linkExpiresAt).announced).toEqual([]);
  });

  test("is when it is checked, if no check comes before", () => {
    const application = inStatus("OPENED");
    const plannedAt = (now: Date) => {
      application.nextCheckAt = null;
      application.planCheck([300, 3_600], now);
      return application.nextCheckAt;
    };
    expect(plannedAt(createdAt)).toEqual(new Date(createdAt.getTime() + 300_000));
    expect(plannedAt(new Date(linkExpiresAt.getTime() - 60_000))).toEqual(linkExpiresAt);
    // And once more when what was on its way must have arrived.
    expect(plannedAt(linkExpiresAt)).toEqual(new Date(linkExpiresAt.getTime() + 60_000));
    expect(plannedAt(lapsed)).toEqual(new Date(lapsed.getTime() + 3_600_000));
  });

  test("a check that is due already is not put off", () => {
    const application = inStatus("OPENED");
    application.checkSoon(createdAt);
    application.planCheck([300], later);
    expect(application.nextCheckAt).toEqual(createdAt);
  });

  test.each(["COMPLETED", "EXPIRED", "CANCELED"] as const)("matters no more when %s: nothing is checked", (status) => {
    const application = inStatus(status);
    application.planCheck([300], createdAt);
    expect(application.nextCheckAt).toBeNull();
  });
});

describe("a document", () => {
  const notices = (application: KycApplication, day: string) => {
    const announced: string[] = [];
    application.noticeDocument(new Date(`${day}T09:00:00Z`), (change) => announced.push(change));
    return announced;
  };
  const approved = (changes: Partial<KycApplication> = {}) =>
    anApplication({ status: "COMPLETED", verdict: "APPROVED", documentExpiry: "2026-06-30", ...changes });

  test("is spoken of 30 and 7 days ahead and once it has expired, once each", () => {
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

  test("that has expired before anybody looked is spoken of once", () => {
    const application = approved();
    expect(notices(application, "2027-01-01")).toEqual(["KYC_DOCUMENT_EXPIRED"]);
    expect(notices(application, "2027-01-02")).toEqual([]);
  });

  test.each([{ verdict: "REJECTED" }, { verdict: "NEEDS_REVIEW" }, { documentExpiry: null }] as const)(
    "of %o is not spoken of",
    (changes) => {
      expect(notices(approved(changes), "2026-07-01")).toEqual([]);
    },
  );
});
