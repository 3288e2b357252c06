import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Onboarding, type Verification } from "./onboarding.ts";

const now = new Date("2026-11-20T10:00:00.000Z");
const later = new Date("2026-11-20T11:00:00.000Z");

/**
 * Returns an onboarding without details and without a verification. The onboarding is not stored in
 * a database.
 */
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
/** Returns a verification with a higher revision than all verifications returned before. */
const aVerification = (changes: Partial<Verification> = {}): Verification => ({
  id: "0195a000-0000-7000-8000-00000000000a",
  createdAt: now,
  revision: ++revisions,
  status: "CREATED",
  verdict: null,
  attemptsRemaining: 3,
  ...changes,
});
const aNewerVerification = (changes: Partial<Verification> = {}) =>
  aVerification({ id: "0195a000-0000-7000-8000-00000000000b", createdAt: later, revision: 1, ...changes });

const statusOf = (onboarding: Onboarding) => [onboarding.step, onboarding.kycStatus, onboarding.overallStatus()];
const anOnboardingWithDetails = () => {
  const onboarding = anOnboarding();
  onboarding.addDetails(now);
  return onboarding;
};
const approvedFields = { status: "COMPLETED", verdict: "APPROVED" } as const;

describe("applyVerification, with details", () => {
  const statusTable: [Partial<Verification>, string, string, string, boolean][] = [
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
    [approvedFields, "PENDING_APPROVAL", "VALIDATED", "IN_PROGRESS", false],
  ];
  test.each(statusTable)(
    "applyVerification for %j sets the step %s, the KYC status %s and the overall status %s (verification open: %s)",
    (verification, step, kycStatus, overallStatus, isOpen) => {
      const onboarding = anOnboardingWithDetails();
      onboarding.applyVerification(aVerification(verification), now);
      expect(statusOf(onboarding)).toEqual([step, kycStatus, overallStatus]);
      expect(onboarding.isVerificationOpen()).toBe(isOpen);
      expect(onboarding.acceptsDetails()).toBe(step === "KYC_PENDING");
    },
  );

  test.each(statusTable)(
    "applyVerification for %j keeps an onboarding at DETAILS_PENDING until its details are added",
    (verification, step, kycStatus) => {
      const onboarding = anOnboarding();
      onboarding.applyVerification(aVerification(verification), now);
      expect(statusOf(onboarding)).toEqual(["DETAILS_PENDING", kycStatus, "IN_PROGRESS"]);
      onboarding.addDetails(now);
      expect([onboarding.step, onboarding.kycStatus]).toEqual([step, kycStatus]);
    },
  );
});

describe("applyVerification with a newer verification", () => {
  const stepTable: [string, () => Onboarding][] = [
    ["KYC_PENDING", anOnboardingWithDetails],
    ["KYC_PROCESSING", () => anOnboardingWith({ status: "OPENED" })],
    ["KYC_UNDER_REVIEW", () => anOnboardingWith({ status: "COMPLETED", verdict: "NEEDS_REVIEW" })],
    ["KYC_DECLINED", () => anOnboardingWith({ status: "COMPLETED", verdict: "REJECTED" })],
    ["PENDING_APPROVAL", () => anOnboardingWith(approvedFields)],
    ["KYC_DECLINED by an operator", () => aDecidedOnboarding("DECLINED")],
  ];
  const anOnboardingWith = (verification: Partial<Verification>) => {
    const onboarding = anOnboardingWithDetails();
    onboarding.applyVerification(aVerification(verification), now);
    return onboarding;
  };
  const aDecidedOnboarding = (decision: "APPROVED" | "DECLINED") => {
    const onboarding = anOnboardingWith(approvedFields);
    onboarding.decide(decision, now);
    return onboarding;
  };

  test.each(stepTable)(
    "applyVerification with a newer verification changes the step %s to KYC_PENDING and the KYC status to CREATED",
    (_step, createOnboarding) => {
      const onboarding = createOnboarding();
      onboarding.applyVerification(aNewerVerification(), now);
      expect(statusOf(onboarding)).toEqual(["KYC_PENDING", "CREATED", "IN_PROGRESS"]);
    },
  );

  test("applyVerification with a newer verification keeps the step APPROVED and changes the KYC status to CREATED", () => {
    const onboarding = aDecidedOnboarding("APPROVED");
    onboarding.applyVerification(aNewerVerification(), now);
    expect(statusOf(onboarding)).toEqual(["APPROVED", "CREATED", "APPROVED"]);
  });

  test("Onboarding.decide accepts APPROVED for a newer verification if an operator declined the previous verification", () => {
    const onboarding = aDecidedOnboarding("DECLINED");
    onboarding.applyVerification(aNewerVerification(approvedFields), now);
    expect(onboarding.step).toBe("PENDING_APPROVAL");
    onboarding.decide("APPROVED", now);
    expect(statusOf(onboarding)).toEqual(["APPROVED", "VALIDATED", "APPROVED"]);
  });

  test("applyVerification ignores events of an older verification", () => {
    const onboarding = anOnboardingWithDetails();
    onboarding.applyVerification(aNewerVerification({ status: "OPENED" }), now);
    onboarding.applyVerification(aVerification(approvedFields), now);
    expect(statusOf(onboarding)).toEqual(["KYC_PROCESSING", "PROCESSING", "IN_PROGRESS"]);
  });

  test("applyVerification stores the verification with the greater id if two verifications have the same creation time", () => {
    const [lowVerification, highVerification] = [aVerification({ status: "OPENED" }), aNewerVerification({ createdAt: now })];
    for (const sequence of [
      [lowVerification, highVerification],
      [highVerification, lowVerification],
    ]) {
      const onboarding = anOnboardingWithDetails();
      for (const verification of sequence) onboarding.applyVerification(verification, now);
      expect(onboarding.verificationId).toBe(highVerification.id);
    }
  });
});

describe("decide", () => {
  const otherStates: Partial<Verification>[] = [
    { status: "CREATED" },
    { status: "OPENED" },
    { status: "COMPLETED", verdict: "NEEDS_REVIEW" },
    { status: "COMPLETED", verdict: "REJECTED" },
    { status: "EXPIRED" },
  ];
  test.each(["APPROVED", "DECLINED"] as const)(
    "Onboarding.decide accepts %s at the step PENDING_APPROVAL, and throws invalid_status_transition at any other step",
    (decision) => {
      const expectRefusal = (onboarding: Onboarding) =>
        expect(() => onboarding.decide(decision, now)).toThrow(
          expect.objectContaining({
            kind: "conflict",
            code: "invalid_status_transition",
            members: { current_step: onboarding.step },
          }),
        );
      expectRefusal(anOnboarding());
      expectRefusal(anOnboardingWithDetails());
      for (const verification of otherStates) {
        const onboarding = anOnboardingWithDetails();
        onboarding.applyVerification(aVerification(verification), now);
        expectRefusal(onboarding);
      }
      const onboarding = anOnboarding();
      onboarding.applyVerification(aVerification(approvedFields), now);
      expectRefusal(onboarding);
      onboarding.addDetails(now);
      onboarding.decide(decision, now);
      expectRefusal(onboarding);
    },
  );

  test("applyVerification keeps the step KYC_DECLINED if another event of the declined verification arrives", () => {
    const onboarding = anOnboardingWithDetails();
    const verdict = aVerification(approvedFields);
    onboarding.applyVerification(verdict, now);
    onboarding.decide("DECLINED", now);
    onboarding.applyVerification(verdict, now);
    // A later event of the same verification, for example a notice about the document.
    onboarding.applyVerification({ ...verdict, revision: verdict.revision + 1 }, now);
    expect(statusOf(onboarding)).toEqual(["KYC_DECLINED", "DECLINED", "DECLINED"]);
  });
});

test("applyVerification and addDetails change the updatedAt of the onboarding only if a public field changes", () => {
  const onboarding = anOnboarding();
  const isUpdatedBy = (change: (changedAt: Date) => void) => {
    const changedAt = new Date(onboarding.updatedAt.getTime() + 1_000);
    change(changedAt);
    return onboarding.updatedAt === changedAt;
  };
  const openedVerification = aVerification({ status: "OPENED" });
  expect(isUpdatedBy((changedAt) => onboarding.applyVerification(openedVerification, changedAt))).toBe(true);
  expect(isUpdatedBy((changedAt) => onboarding.applyVerification(openedVerification, changedAt))).toBe(false);
  expect(isUpdatedBy((changedAt) => onboarding.applyVerification(aVerification({ status: "SUBMITTED" }), changedAt))).toBe(false);
  expect(isUpdatedBy((changedAt) => onboarding.addDetails(changedAt))).toBe(true);
  expect(isUpdatedBy((changedAt) => onboarding.addDetails(changedAt))).toBe(false);
  expect(isUpdatedBy((changedAt) => onboarding.applyVerification(aVerification(approvedFields), changedAt))).toBe(true);
  expect(isUpdatedBy((changedAt) => onboarding.applyVerification(aVerification(approvedFields), changedAt))).toBe(false);
  expect(isUpdatedBy((changedAt) => onboarding.applyVerification(aNewerVerification(), changedAt))).toBe(true);
});

test("applyVerification produces the same state even if events arrive in another order or repeatedly", () => {
  const status = fc.constantFrom("CREATED", "OPENED", "SUBMITTED", "PROCESSING", "COMPLETED", "EXPIRED", "CANCELED", "FAILED");
  const verification = fc.record({
    id: fc.constantFrom("a", "b", "c"),
    revision: fc.integer({ min: 1, max: 6 }),
    status: status as fc.Arbitrary<Verification["status"]>,
    verdict: fc.constantFrom<NonNullable<Verification["verdict"]>>("APPROVED", "NEEDS_REVIEW", "REJECTED"),
    attemptsRemaining: fc.integer({ min: 0, max: 1 }),
  });
  // The verifications b and c have the same creation time.
  const createdAt = (id: string) => (id === "a" ? now : later);
  const events = fc
    .uniqueArray(verification, { minLength: 1, maxLength: 12, selector: ({ id, revision }) => `${id}${revision}` })
    .map((allEvents) =>
      allEvents.map((event) => ({
        ...event,
        createdAt: createdAt(event.id),
        verdict: event.status === "COMPLETED" ? event.verdict : null,
      })),
    );
  const deliveries = events.chain((allEvents) =>
    fc.record({
      allEvents: fc.constant(allEvents),
      repeatedEvents: fc.shuffledSubarray(allEvents),
      shuffledEvents: fc.shuffledSubarray(allEvents, { minLength: allEvents.length }),
    }),
  );
  fc.assert(
    fc.property(deliveries, fc.nat(12), ({ allEvents, repeatedEvents, shuffledEvents }, detailsAfter) => {
      const stateAfter = (verifications: readonly Verification[], detailsAt: number) => {
        const onboarding = anOnboarding();
        verifications.forEach((verification, position) => {
          if (position === detailsAt) onboarding.addDetails(now);
          onboarding.applyVerification(verification, now);
        });
        onboarding.addDetails(now);
        const { updatedAt: _, ...state } = onboarding;
        return state;
      };
      const [newestVerification] = allEvents.toSorted(
        (left, right) =>
          right.createdAt.getTime() - left.createdAt.getTime() ||
          right.id.localeCompare(left.id) ||
          right.revision - left.revision,
      ) as [Verification];
      expect(stateAfter([...repeatedEvents, ...allEvents, ...shuffledEvents], detailsAfter)).toEqual(
        stateAfter([newestVerification], 0),
      );
    }),
    { numRuns: 500 },
  );
});
