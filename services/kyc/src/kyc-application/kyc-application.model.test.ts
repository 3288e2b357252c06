import fc from "fast-check";
import { test } from "vitest";
import { anApplication, aState, createdAt } from "../../test/an-application.ts";
import {
  type ApplicationState,
  amlDecisions,
  checkOutcomes,
  documentTypes,
  kycStatuses,
  reasonCodes,
  verdicts,
} from "../verification-provider/verification-provider.ts";
import type { KycApplication, KycChange } from "./kyc-application.ts";

/** Generates the positive value in most cases, so that the test contains enough approvals. */
const mostlyPositive = <T>(positiveValue: T, otherValues: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(positiveValue) }, { weight: 1, arbitrary: otherValues });

/** Generates states that the provider could return, including implausible states. */
const aReportedState: fc.Arbitrary<Partial<ApplicationState>> = fc.record({
  status: fc.constantFrom(...kycStatuses),
  sequence: fc.integer({ min: 0, max: 30 }),
  attemptsUsed: fc.integer({ min: 0, max: 4 }),
  verdict: fc.constantFrom("APPROVED", undefined, ...verdicts),
  reasonCodes: mostlyPositive([], fc.array(fc.constantFrom(...reasonCodes), { maxLength: 2 })),
  livenessOutcome: mostlyPositive("PASSED", fc.constantFrom(undefined, ...checkOutcomes)),
  faceMatchOutcome: mostlyPositive("PASSED", fc.constantFrom(undefined, ...checkOutcomes)),
  amlDecision: mostlyPositive("CLEAR", fc.constantFrom(undefined, ...amlDecisions)),
  amlHitCount: mostlyPositive(0, fc.constantFrom(undefined, 2)),
  documentType: mostlyPositive("passport", fc.constantFrom(undefined, ...documentTypes)),
  documentExpiry: mostlyPositive("2031-06-30", fc.constantFrom(undefined, "2025-12-31", "2026-03-10")),
  unread: fc.constantFrom<string[][]>([], [], ["aml_hit_count"]),
});

type Step =
  | { readonly kind: "state"; readonly state: Partial<ApplicationState> }
  /**
   * Simulates a crash between the provider's response and the commit in kyc. The response is lost.
   */
  | { readonly kind: "crash"; readonly state: Partial<ApplicationState> }
  | { readonly kind: "repeat" }
  | { readonly kind: "cancel" }
  | { readonly kind: "review"; readonly outcome: "APPROVED" | "REJECTED" }
  | { readonly kind: "wait"; readonly hours: number };

const aStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("state" as const), state: aReportedState }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("crash" as const), state: aReportedState }) },
  { weight: 2, arbitrary: fc.constant({ kind: "repeat" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "cancel" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("review" as const), outcome: fc.constantFrom("APPROVED", "REJECTED") }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait" as const), hours: fc.integer({ min: 1, max: 48 }) }) },
) as fc.Arbitrary<Step>;

const legalChanges: Record<string, readonly string[]> = {
  CREATED: ["OPENED", "SUBMITTED", "PROCESSING", "COMPLETED", "FAILED", "EXPIRED", "CANCELED"],
  OPENED: ["SUBMITTED", "PROCESSING", "COMPLETED", "FAILED", "EXPIRED", "CANCELED"],
  // KYC_FAILED is emitted before the event for a new attempt, even if kyc detects the failure only
  // by the new attempt.
  SUBMITTED: ["PROCESSING", "COMPLETED", "FAILED"],
  PROCESSING: ["COMPLETED", "FAILED"],
  FAILED: ["OPENED", "SUBMITTED", "PROCESSING", "COMPLETED", "FAILED", "EXPIRED", "CANCELED"],
  COMPLETED: [],
  EXPIRED: ["COMPLETED"],
  CANCELED: [],
};
const finalChanges: readonly KycChange[] = ["KYC_COMPLETED", "KYC_REJECTED", "KYC_NEEDS_REVIEW", "KYC_EXPIRED", "KYC_CANCELED"];

interface EmittedChange {
  readonly change: KycChange;
  readonly status: string;
  readonly verdict: string | null | undefined;
  readonly attemptsUsed: number;
}

const describeResult = ({ status, verdict, amlHitCount, reasonCodes }: KycApplication) =>
  `${status} ${verdict} ${amlHitCount} ${JSON.stringify(reasonCodes)}`;

function invariant(isHolding: boolean, violation: string): void {
  if (!isHolding) throw new Error(violation);
}

test("KycApplication violates no invariant in random sequences of states, cancellations, reviews, crashes and pauses", () => {
  fc.assert(
    fc.property(fc.array(aStep, { maxLength: 40 }), fc.boolean(), (steps, requireVideo) => {
      const application = anApplication({ requireVideo });
      const emittedChanges: EmittedChange[] = [];
      let now = createdAt;
      let lastState = aState({ status: "CREATED", sequence: 1, attemptsUsed: 0 });
      /** The provider's newest verdict since the application became COMPLETED. */
      let providerVerdict: string | undefined;
      let hasPersonDecided = false;
      let finalResult: string | undefined;

      const emit = (change: KycChange) => {
        const previousStatus =
          emittedChanges.findLast(({ change: earlier }) => earlier !== "KYC_REVIEW_RESOLVED")?.status ?? "CREATED";
        const { status, verdict, attemptsUsed } = application;
        if (change === "KYC_REVIEW_RESOLVED") {
          invariant(
            emittedChanges.some((earlier) => earlier.change === "KYC_NEEDS_REVIEW"),
            "KYC_REVIEW_RESOLVED without KYC_NEEDS_REVIEW",
          );
          invariant(!emittedChanges.some((earlier) => earlier.change === "KYC_REVIEW_RESOLVED"), "review resolved twice");
          invariant(verdict !== "NEEDS_REVIEW", "review resolved without a decision");
        } else {
          invariant(
            legalChanges[previousStatus]?.includes(status) ?? false,
            `illegal change from ${previousStatus} to ${status}`,
          );
          const sameFailures = emittedChanges.filter(
            (earlier) => earlier.change === "KYC_FAILED" && earlier.attemptsUsed === attemptsUsed,
          );
          const previousChange = emittedChanges.at(-1)?.change;
          if (change === "KYC_FAILED" && previousChange === "KYC_FAILED")
            invariant(sameFailures.length === 0, "one failure emitted twice");
        }
        emittedChanges.push({ change, status, verdict, attemptsUsed });
      };
      const applyState = (state: ApplicationState) => {
        const wasInReview = application.awaitsReview();
        const isNewer = (state.sequence ?? 0) > application.sequence;
        const emittedCount = emittedChanges.length;
        application.applyState(state, { at: now }, now, emit);
        if (wasInReview && isNewer && application.verdict === "APPROVED") {
          invariant(providerVerdict === "NEEDS_REVIEW" && state.verdict === "APPROVED", "approved without a person's decision");
          hasPersonDecided = true;
        }
        if (isNewer && (state.status === "EXPIRED" || state.status === "CANCELED")) {
          invariant(
            !["CREATED", "OPENED", "SUBMITTED", "PROCESSING"].includes(application.status),
            "application open after the end of its link",
          );
        }
        const isApproved = emittedChanges.slice(emittedCount).some(({ change }) => change === "KYC_COMPLETED");
        if (isApproved) invariant(state.unread.length === 0, "approved with unread evidence");
        if (isNewer && state.status === "COMPLETED" && application.status === "COMPLETED") providerVerdict = state.verdict;
      };

      for (const aStep of steps) {
        if (aStep.kind === "wait") now = new Date(now.getTime() + aStep.hours * 3_600_000);
        if (aStep.kind === "state") {
          lastState = aState(aStep.state);
          applyState(lastState);
        }
        if (aStep.kind === "repeat") applyState(lastState);
        if (aStep.kind === "crash") {
          Object.assign(Object.create(Object.getPrototypeOf(application)), application).applyState(
            aState(aStep.state),
            { at: now },
            now,
            () => {},
          );
        }
        if (aStep.kind === "cancel") {
          let isRefused = false;
          try {
            application.requireCancelable();
          } catch {
            isRefused = true;
          }
          const isCancelable = ["CREATED", "OPENED", "FAILED"].includes(application.status);
          invariant(isRefused !== isCancelable, `cancellation of ${application.status}: isRefused ${isRefused}`);
          if (!isRefused)
            applyState(
              aState({ status: "CANCELED", sequence: application.sequence + 1, attemptsUsed: application.attemptsUsed }),
            );
          if (!isRefused) invariant(application.status === "CANCELED", "confirmed cancellation not applied");
        }
        if (aStep.kind === "review" && application.awaitsReview()) {
          application.resolveReview(aStep.outcome, now, emit);
          hasPersonDecided = true;
        }

        const { status, verdict } = application;
        invariant((status === "COMPLETED") === (verdict != null), `${status} with verdict ${verdict}`);
        if (verdict === "APPROVED" && !hasPersonDecided) {
          invariant(application.amlHitCount === 0, "approved with an AML hit");
          invariant(requireVideo, "approved without a video");
          invariant(application.reasonCodes.length === 0, "approved with a reason code");
          invariant(
            application.livenessOutcome === "PASSED" && application.faceMatchOutcome === "PASSED",
            "approved without liveness and face match",
          );
          invariant(application.amlDecision === "CLEAR", "approved without a clear AML decision");
          invariant(application.documentType != null && application.documentExpiry != null, "approved without a document");
        }
        if (status === "COMPLETED" && !requireVideo)
          invariant(application.livenessOutcome === "NOT_PERFORMED", "liveness without video");
        const isUnchangeable = application.isFinal() && status !== "EXPIRED" && !application.awaitsReview();
        const result = describeResult(application);
        if (finalResult !== undefined) invariant(result === finalResult, `final result ${finalResult} changed to ${result}`);
        if (isUnchangeable) finalResult = result;
      }
      const finalEmissions = emittedChanges.filter(({ change }) => finalChanges.includes(change));
      const finalEmissionsMax = finalEmissions[0]?.change === "KYC_EXPIRED" && finalEmissions[1]?.status === "COMPLETED" ? 2 : 1;
      invariant(finalEmissions.length <= finalEmissionsMax, "application ended twice");
      const completions = emittedChanges.filter(({ change }) => change === "KYC_COMPLETED");
      invariant(
        completions.every(({ verdict }) => verdict === "APPROVED"),
        "KYC_COMPLETED emitted without an approval",
      );
    }),
    { numRuns: 3_000 },
  );
});
