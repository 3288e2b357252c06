import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Onboarding, type Verification } from "./onboarding.ts";

const now = new Date("2026-11-20T10:00:00.000Z");
const later = new Date("2026-11-20T11:00:00.000Z");

/** One that has just begun, unless told otherwise; never stored. */
const anOnboarding = (changes: Partial<Onboarding> = {}): Onboarding =>
  Object.assign(new Onboarding(), {
    id: "0195a000-0000-7000-8000-000000000001",
    hasDetails: false,
    step: "DETAILS_PENDING",
    kycStatus: "NOT_STARTED",
    createdAt: now,
    updatedAt: now,
    ...changes,
  });

let revisions = 0;
const said = (changes: Partial<Verification> = {}): Verification => ({
  id: "0195a000-0000-7000-8000-00000000000a",
  createdAt: now,
  revision: ++revisions,
  status: "CREATED",
  verdict: null,
  attemptsRemaining: 3,
  ...changes,
});
const newer = (changes: Partial<Verification> = {}) =>
  said({ id: "0195a000-0000-7000-8000-00000000000b", createdAt: later, revision: 1, ...changes });

const shown = (onboarding: Onboarding) => [onboarding.step, onboarding.kycStatus, onboarding.overallStatus()];
const withDetails = () => {
  const onboarding = anOnboarding();
  onboarding.detailsGiven(now);
  return onboarding;
};
const approved = { status: "COMPLETED", verdict: "APPROVED" } as const;

describe("with details, what the verification says decides", () => {
  const table: [Partial<Verification>, string, string, string, boolean][] = [
    [{ status: "CREATED" }, "KYC_PENDING", "CREATED", "IN_PROGRESS", true],
    [{ status: "OPENED" }, "KYC_PROCESSING", "PROCESSING", "IN_PROGRESS", true],
    [{ status: "SUBMITTED" }, "KYC_PROCESSING", "PROCESSING", "IN_PROGRESS", true],
    [{ status: "PROCESSING" }, "KYC_PROCESSING", "PROCESSING", "IN_PROGRESS", true],
    [{ status: "FAILED", attemptsRemaining: 1 }, "KYC_PROCESSING", "PROCESSING", "IN_PROGRESS", true],
    [{ status: "FAILED", attemptsRemaining: 0 }, "KYC_PENDING", "ABORTED", "IN_PROGRESS", false],
    [{ status: "EXPIRED" }, "KYC_PENDING", "ABORTED", "IN_PROGRESS", false],
    [{ status: "CANCELED" }, "KYC_PENDING", "ABORTED", "IN_PROGRESS", false],
    [{ status: "COMPLETED", verdict: "NEEDS_REVIEW" }, "KYC_UNDER_REVIEW", "PENDING_REVIEW", "UNDER_REVIEW", false],
    [{ status: "COMPLETED", verdict: "REJECTED" }, "KYC_DECLINED", "DECLINED", "DECLINED", false],
    [approved, "PENDING_APPROVAL", "VALIDATED", "IN_PROGRESS", false],
  ];
  test.each(table)("%j → %s, %s, %s, link shown: %s", (verification, step, kycStatus, overall, isOpen) => {
    const onboarding = withDetails();
    onboarding.applyVerification(said(verification), now);
    expect(shown(onboarding)).toEqual([step, kycStatus, overall]);
    expect(onboarding.isVerificationOpen()).toBe(isOpen);
    expect(onboarding.takesDetails()).toBe(step === "KYC_PENDING");
  });

  test.each(table)(
    "before there are details, %j waits at DETAILS_PENDING and moves on when they are saved",
    (verification, step, kycStatus) => {
      const onboarding = anOnboarding();
      onboarding.applyVerification(said(verification), now);
      expect(shown(onboarding)).toEqual(["DETAILS_PENDING", kycStatus, "IN_PROGRESS"]);
      onboarding.detailsGiven(now);
      expect([onboarding.step, onboarding.kycStatus]).toEqual([step, kycStatus]);
    },
  );
});

describe("a new application", () => {
  const steps: [string, () => Onboarding][] = [
    ["KYC_PENDING", withDetails],
    ["KYC_PROCESSING", () => heard({ status: "OPENED" })],
    ["KYC_UNDER_REVIEW", () => heard({ status: "COMPLETED", verdict: "NEEDS_REVIEW" })],
    ["KYC_DECLINED", () => heard({ status: "COMPLETED", verdict: "REJECTED" })],
    ["PENDING_APPROVAL", () => heard(approved)],
    ["declined by an operator", () => decided("DECLINED")],
  ];
  const heard = (verification: Partial<Verification>) => {
    const onboarding = withDetails();
    onboarding.applyVerification(said(verification), now);
    return onboarding;
  };
  const decided = (decision: "APPROVED" | "DECLINED") => {
    const onboarding = heard(approved);
    onboarding.decide(decision, now);
    return onboarding;
  };

  test.each(steps)("at %s leads to KYC_PENDING and CREATED", (_step, make) => {
    const onboarding = make();
    onboarding.applyVerification(newer(), now);
    expect(shown(onboarding)).toEqual(["KYC_PENDING", "CREATED", "IN_PROGRESS"]);
  });

  test("at APPROVED leaves the step and makes the verification CREATED", () => {
    const onboarding = decided("APPROVED");
    onboarding.applyVerification(newer(), now);
    expect(shown(onboarding)).toEqual(["APPROVED", "CREATED", "APPROVED"]);
  });

  test("after a refusal can be approved", () => {
    const onboarding = decided("DECLINED");
    onboarding.applyVerification(newer(approved), now);
    expect(onboarding.step).toBe("PENDING_APPROVAL");
    onboarding.decide("APPROVED", now);
    expect(shown(onboarding)).toEqual(["APPROVED", "VALIDATED", "APPROVED"]);
  });

  test("makes what the older ones still say meaningless", () => {
    const onboarding = withDetails();
    onboarding.applyVerification(newer({ status: "OPENED" }), now);
    onboarding.applyVerification(said(approved), now);
    expect(shown(onboarding)).toEqual(["KYC_PROCESSING", "PROCESSING", "IN_PROGRESS"]);
  });

  test("of the same moment is told from the other by its id", () => {
    const [low, high] = [said({ status: "OPENED" }), newer({ createdAt: now })];
    for (const order of [
      [low, high],
      [high, low],
    ]) {
      const onboarding = withDetails();
      for (const one of order) onboarding.applyVerification(one, now);
      expect(onboarding.verificationId).toBe(high.id);
    }
  });
});

describe("an operator", () => {
  const elsewhere: Partial<Verification>[] = [
    { status: "CREATED" },
    { status: "OPENED" },
    { status: "COMPLETED", verdict: "NEEDS_REVIEW" },
    { status: "COMPLETED", verdict: "REJECTED" },
    { status: "EXPIRED" },
  ];
  test.each(["APPROVED", "DECLINED"] as const)("decides %s at PENDING_APPROVAL, once, and nowhere else", (decision) => {
    const refused = (onboarding: Onboarding) =>
      expect(() => onboarding.decide(decision, now)).toThrow(
        expect.objectContaining({
          kind: "conflict",
          code: "invalid_status_transition",
          members: { current_step: onboarding.step },
        }),
      );
    refused(anOnboarding());
    refused(withDetails());
    for (const verification of elsewhere) {
      const onboarding = withDetails();
      onboarding.applyVerification(said(verification), now);
      refused(onboarding);
    }
    const waiting = anOnboarding();
    waiting.applyVerification(said(approved), now);
    refused(waiting);
    waiting.detailsGiven(now);
    waiting.decide(decision, now);
    refused(waiting);
  });

  test("turns a client down: KYC_DECLINED, DECLINED, DECLINED, whatever is repeated of that verification", () => {
    const onboarding = withDetails();
    const verdict = said(approved);
    onboarding.applyVerification(verdict, now);
    onboarding.decide("DECLINED", now);
    onboarding.applyVerification(verdict, now);
    // A notice about the document, for example.
    onboarding.applyVerification({ ...verdict, revision: verdict.revision + 1 }, now);
    expect(shown(onboarding)).toEqual(["KYC_DECLINED", "DECLINED", "DECLINED"]);
  });
});

test("updated_at moves with what is seen of the onboarding, and with nothing else", () => {
  const onboarding = anOnboarding();
  const moved = (act: (at: Date) => void) => {
    const at = new Date(onboarding.updatedAt.getTime() + 1_000);
    act(at);
    return onboarding.updatedAt === at;
  };
  const opened = said({ status: "OPENED" });
  expect(moved((at) => onboarding.applyVerification(opened, at))).toBe(true);
  expect(moved((at) => onboarding.applyVerification(opened, at))).toBe(false);
  expect(moved((at) => onboarding.applyVerification(said({ status: "SUBMITTED" }), at))).toBe(false);
  expect(moved((at) => onboarding.detailsGiven(at))).toBe(true);
  expect(moved((at) => onboarding.detailsGiven(at))).toBe(false);
  expect(moved((at) => onboarding.applyVerification(said(approved), at))).toBe(true);
  expect(moved((at) => onboarding.applyVerification(said(approved), at))).toBe(false);
  expect(moved((at) => onboarding.applyVerification(newer(), at))).toBe(true);
});

test("any order, any repetition: the same events leave the same state", () => {
  const status = fc.constantFrom("CREATED", "OPENED", "SUBMITTED", "PROCESSING", "COMPLETED", "EXPIRED", "CANCELED", "FAILED");
  const verification = fc.record({
    id: fc.constantFrom("a", "b", "c"),
    revision: fc.integer({ min: 1, max: 6 }),
    status: status as fc.Arbitrary<Verification["status"]>,
    verdict: fc.constantFrom<NonNullable<Verification["verdict"]>>("APPROVED", "NEEDS_REVIEW", "REJECTED"),
    attemptsRemaining: fc.integer({ min: 0, max: 1 }),
  });
  // Two of the three were created in the same millisecond.
  const createdAt = (id: string) => (id === "a" ? now : later);
  const events = fc
    .uniqueArray(verification, { minLength: 1, maxLength: 12, selector: ({ id, revision }) => `${id}${revision}` })
    .map((all) =>
      all.map((one) => ({ ...one, createdAt: createdAt(one.id), verdict: one.status === "COMPLETED" ? one.verdict : null })),
    );
  const order = events.chain((all) =>
    fc.record({
      all: fc.constant(all),
      again: fc.shuffledSubarray(all),
      shuffled: fc.shuffledSubarray(all, { minLength: all.length }),
    }),
  );
  fc.assert(
    fc.property(order, fc.nat(12), ({ all, again, shuffled }, detailsAfter) => {
      const play = (played: readonly Verification[], detailsAt: number) => {
        const onboarding = anOnboarding();
        played.forEach((one, position) => {
          if (position === detailsAt) onboarding.detailsGiven(now);
          onboarding.applyVerification(one, now);
        });
        onboarding.detailsGiven(now);
        const { updatedAt: _, ...state } = onboarding;
        return state;
      };
      const [newest] = all.toSorted(
        (one, other) =>
          other.createdAt.getTime() - one.createdAt.getTime() || other.id.localeCompare(one.id) || other.revision - one.revision,
      ) as [Verification];
      expect(play([...again, ...all, ...shuffled], detailsAfter)).toEqual(play([newest], 0));
    }),
    { numRuns: 500 },
  );
});
