import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Onboarding, type Verification } from "./onboarding.ts";

const now = new Date("2026-11-20T10:00:00.000Z");
const later = new Date("2026-11-20T11:00:00.000Z");

/** Returns an onboarding without details and verification. It is not stored. */
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
/** Returns a verification with the next revision. */
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
const withDetails = () => {
  const onboarding = anOnboarding();
  onboarding.addDetails(now);
  return onboarding;
};
const approved = { status: "COMPLETED", verdict: "APPROVED" } as const;

describe("applyVerification, with details", () => {
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
  test.each(table)("changes, for %j, to %s, %s, %s, verification open: %s", (verification, step, kycStatus, overall, isOpen) => {
    const onboarding = withDetails();
    onboarding.applyVerification(aVerification(verification), now);
    expect(statusOf(onboarding)).toEqual([step, kycStatus, overall]);
    expect(onboarding.isVerificationOpen()).toBe(isOpen);
    expect(onboarding.acceptsDetails()).toBe(step === "KYC_PENDING");
  });

  test.each(table)("keeps, for %j without details, DETAILS_PENDING until they are added", (verification, step, kycStatus) => {
    const onboarding = anOnboarding();
    onboarding.applyVerification(aVerification(verification), now);
    expect(statusOf(onboarding)).toEqual(["DETAILS_PENDING", kycStatus, "IN_PROGRESS"]);
    onboarding.addDetails(now);
    expect([onboarding.step, onboarding.kycStatus]).toEqual([step, kycStatus]);
  });
});

describe("applyVerification, newer verification", () => {
  const steps: [string, () => Onboarding][] = [
    ["KYC_PENDING", withDetails],
    ["KYC_PROCESSING", () => withVerification({ status: "OPENED" })],
    ["KYC_UNDER_REVIEW", () => withVerification({ status: "COMPLETED", verdict: "NEEDS_REVIEW" })],
    ["KYC_DECLINED", () => withVerification({ status: "COMPLETED", verdict: "REJECTED" })],
    ["PENDING_APPROVAL", () => withVerification(approved)],
    ["KYC_DECLINED by an operator", () => decided("DECLINED")],
  ];
  const withVerification = (verification: Partial<Verification>) => {
    const onboarding = withDetails();
    onboarding.applyVerification(aVerification(verification), now);
    return onboarding;
  };
  const decided = (decision: "APPROVED" | "DECLINED") => {
    const onboarding = withVerification(approved);
    onboarding.decide(decision, now);
    return onboarding;
  };

  test.each(steps)("changes %s to KYC_PENDING and CREATED", (_step, create) => {
    const onboarding = create();
    onboarding.applyVerification(aNewerVerification(), now);
    expect(statusOf(onboarding)).toEqual(["KYC_PENDING", "CREATED", "IN_PROGRESS"]);
  });

  test("keeps the step APPROVED and changes the verification status to CREATED", () => {
    const onboarding = decided("APPROVED");
    onboarding.applyVerification(aNewerVerification(), now);
    expect(statusOf(onboarding)).toEqual(["APPROVED", "CREATED", "APPROVED"]);
  });

  test("can be approved after a refusal", () => {
    const onboarding = decided("DECLINED");
    onboarding.applyVerification(aNewerVerification(approved), now);
    expect(onboarding.step).toBe("PENDING_APPROVAL");
    onboarding.decide("APPROVED", now);
    expect(statusOf(onboarding)).toEqual(["APPROVED", "VALIDATED", "APPROVED"]);
  });

  test("makes later events of an older verification ineffective", () => {
    const onboarding = withDetails();
    onboarding.applyVerification(aNewerVerification({ status: "OPENED" }), now);
    onboarding.applyVerification(aVerification(approved), now);
    expect(statusOf(onboarding)).toEqual(["KYC_PROCESSING", "PROCESSING", "IN_PROGRESS"]);
  });

  test("is the one with the greater id for the same creation time", () => {
    const [low, high] = [aVerification({ status: "OPENED" }), aNewerVerification({ createdAt: now })];
    for (const order of [
      [low, high],
      [high, low],
    ]) {
      const onboarding = withDetails();
      for (const verification of order) onboarding.applyVerification(verification, now);
      expect(onboarding.verificationId).toBe(high.id);
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
    "applies %s once at PENDING_APPROVAL, and throws at any other step",
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
      expectRefusal(withDetails());
      for (const verification of otherStates) {
        const onboarding = withDetails();
        onboarding.applyVerification(aVerification(verification), now);
        expectRefusal(onboarding);
      }
      const waiting = anOnboarding();
      waiting.applyVerification(aVerification(approved), now);
      expectRefusal(waiting);
      waiting.addDetails(now);
      waiting.decide(decision, now);
      expectRefusal(waiting);
    },
  );

  test("keeps DECLINED for later events of the same verification", () => {
    const onboarding = withDetails();
    const verdict = aVerification(approved);
    onboarding.applyVerification(verdict, now);
    onboarding.decide("DECLINED", now);
    onboarding.applyVerification(verdict, now);
    // For example, a notice about the document.
    onboarding.applyVerification({ ...verdict, revision: verdict.revision + 1 }, now);
    expect(statusOf(onboarding)).toEqual(["KYC_DECLINED", "DECLINED", "DECLINED"]);
  });
});

test("updated_at changes only with public fields of the onboarding", () => {
  const onboarding = anOnboarding();
  const isUpdatedBy = (act: (at: Date) => void) => {
    const at = new Date(onboarding.updatedAt.getTime() + 1_000);
    act(at);
    return onboarding.updatedAt === at;
  };
  const opened = aVerification({ status: "OPENED" });
  expect(isUpdatedBy((at) => onboarding.applyVerification(opened, at))).toBe(true);
  expect(isUpdatedBy((at) => onboarding.applyVerification(opened, at))).toBe(false);
  expect(isUpdatedBy((at) => onboarding.applyVerification(aVerification({ status: "SUBMITTED" }), at))).toBe(false);
  expect(isUpdatedBy((at) => onboarding.addDetails(at))).toBe(true);
  expect(isUpdatedBy((at) => onboarding.addDetails(at))).toBe(false);
  expect(isUpdatedBy((at) => onboarding.applyVerification(aVerification(approved), at))).toBe(true);
  expect(isUpdatedBy((at) => onboarding.applyVerification(aVerification(approved), at))).toBe(false);
  expect(isUpdatedBy((at) => onboarding.applyVerification(aNewerVerification(), at))).toBe(true);
});

test("applyVerification results in the same state for the same events in any order, with repetitions", () => {
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
      all.map((event) => ({
        ...event,
        createdAt: createdAt(event.id),
        verdict: event.status === "COMPLETED" ? event.verdict : null,
      })),
    );
  const order = events.chain((all) =>
    fc.record({
      all: fc.constant(all),
      repeated: fc.shuffledSubarray(all),
      shuffled: fc.shuffledSubarray(all, { minLength: all.length }),
    }),
  );
  fc.assert(
    fc.property(order, fc.nat(12), ({ all, repeated, shuffled }, detailsAfter) => {
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
      const [newest] = all.toSorted(
        (left, right) =>
          right.createdAt.getTime() - left.createdAt.getTime() ||
          right.id.localeCompare(left.id) ||
          right.revision - left.revision,
      ) as [Verification];
      expect(stateAfter([...repeated, ...all, ...shuffled], detailsAfter)).toEqual(stateAfter([newest], 0));
    }),
    { numRuns: 500 },
  );
});
