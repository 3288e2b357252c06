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

/** Good evidence as a rule, so that approvals happen often enough to be tried. */
const mostly = <T>(good: T, other: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(good) }, { weight: 1, arbitrary: other });

/** Anything the provider could say, in any order, sensible or not. */
const said: fc.Arbitrary<Partial<ApplicationState>> = fc.record({
  status: fc.constantFrom(...kycStatuses),
  sequence: fc.integer({ min: 0, max: 30 }),
  attemptsUsed: fc.integer({ min: 0, max: 4 }),
  verdict: fc.constantFrom("APPROVED", undefined, ...verdicts),
  reasonCodes: mostly([], fc.array(fc.constantFrom(...reasonCodes), { maxLength: 2 })),
  livenessOutcome: mostly("PASSED", fc.constantFrom(undefined, ...checkOutcomes)),
  faceMatchOutcome: mostly("PASSED", fc.constantFrom(undefined, ...checkOutcomes)),
  amlDecision: mostly("CLEAR", fc.constantFrom(undefined, ...amlDecisions)),
  amlHitCount: mostly(0, fc.constantFrom(undefined, 2)),
  documentType: mostly("passport", fc.constantFrom(undefined, ...documentTypes)),
  documentExpiry: mostly("2031-06-30", fc.constantFrom(undefined, "2025-12-31", "2026-03-10")),
  unread: fc.constantFrom<string[][]>([], [], ["aml_hit_count"]),
});

type Step =
  | { readonly kind: "hear"; readonly said: Partial<ApplicationState> }
  /** A crash between the provider's answer and our commit: heard, and forgotten. */
  | { readonly kind: "crash"; readonly said: Partial<ApplicationState> }
  | { readonly kind: "again" }
  | { readonly kind: "cancel" }
  | { readonly kind: "review"; readonly outcome: "APPROVED" | "REJECTED" }
  | { readonly kind: "wait"; readonly hours: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("hear" as const), said }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("crash" as const), said }) },
  { weight: 2, arbitrary: fc.constant({ kind: "again" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "cancel" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("review" as const), outcome: fc.constantFrom("APPROVED", "REJECTED") }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait" as const), hours: fc.integer({ min: 1, max: 48 }) }) },
) as fc.Arbitrary<Step>;

const legal: Record<string, readonly string[]> = {
  CREATED: ["OPENED", "SUBMITTED", "PROCESSING", "COMPLETED", "FAILED", "EXPIRED", "CANCELED"],
  OPENED: ["SUBMITTED", "PROCESSING", "COMPLETED", "FAILED", "EXPIRED", "CANCELED"],
  // KYC_FAILED is emitted before a new attempt, even if only the new attempt shows the failure.
  SUBMITTED: ["PROCESSING", "COMPLETED", "FAILED"],
  PROCESSING: ["COMPLETED", "FAILED"],
  FAILED: ["OPENED", "SUBMITTED", "PROCESSING", "COMPLETED", "FAILED", "EXPIRED", "CANCELED"],
  COMPLETED: [],
  EXPIRED: ["COMPLETED"],
  CANCELED: [],
};
const endings: readonly KycChange[] = ["KYC_COMPLETED", "KYC_REJECTED", "KYC_NEEDS_REVIEW", "KYC_EXPIRED", "KYC_CANCELED"];

interface Moment {
  readonly change: KycChange;
  readonly status: string;
  readonly verdict: string | null | undefined;
  readonly attemptsUsed: number;
}

const visible = ({ status, verdict, aml, reasons }: { status: string; verdict: unknown; aml: number; reasons: string }) =>
  `${status} ${verdict} ${aml} ${reasons}`;
const look = (a: KycApplication) =>
  visible({ status: a.status, verdict: a.verdict, aml: a.amlHitCount, reasons: JSON.stringify(a.reasonCodes) });

function invariant(holds: boolean, text: string): void {
  if (!holds) throw new Error(text);
}

test("whatever is said, cancelled, reviewed, lost or waited for, no rule is broken", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), (steps, requireVideo) => {
      const application = anApplication({ requireVideo });
      const log: Moment[] = [];
      let now = createdAt;
      let last = aState({ status: "CREATED", sequence: 1, attemptsUsed: 0 });
      /** The provider's own newest verdict on a COMPLETED one, and whether a person decided. */
      let theirs: string | undefined;
      let personDecided = false;
      let expected: string | undefined;

      const announce = (change: KycChange) => {
        const before = log.findLast(({ change: earlier }) => earlier !== "KYC_REVIEW_RESOLVED")?.status ?? "CREATED";
        const { status, verdict, attemptsUsed } = application;
        if (change === "KYC_REVIEW_RESOLVED") {
          invariant(
            log.some((moment) => moment.change === "KYC_NEEDS_REVIEW"),
            "resolved without a review",
          );
          invariant(!log.some((moment) => moment.change === "KYC_REVIEW_RESOLVED"), "resolved twice");
          invariant(verdict !== "NEEDS_REVIEW", "resolved without a decision");
        } else {
          invariant(legal[before]?.includes(status) ?? false, `${before} became ${status}`);
          const earlierFailures = log.filter((moment) => moment.change === "KYC_FAILED" && moment.attemptsUsed === attemptsUsed);
          const sinceRetry = log.at(-1)?.change;
          if (change === "KYC_FAILED" && sinceRetry === "KYC_FAILED")
            invariant(earlierFailures.length === 0, "one failure announced twice");
        }
        log.push({ change, status, verdict, attemptsUsed });
      };
      const applyState = (state: ApplicationState) => {
        const wasInReview = application.awaitsReview();
        const isNews = state.sequence > application.sequence;
        const told = log.length;
        application.applyState(state, { at: now }, now, announce);
        if (wasInReview && isNews && application.verdict === "APPROVED") {
          invariant(theirs === "NEEDS_REVIEW" && state.verdict === "APPROVED", "approved without a person");
          personDecided = true;
        }
        if (isNews && (state.status === "EXPIRED" || state.status === "CANCELED")) {
          invariant(!["CREATED", "OPENED", "SUBMITTED", "PROCESSING"].includes(application.status), "outlived its link");
        }
        const isApproved = log.slice(told).some(({ change }) => change === "KYC_COMPLETED");
        if (isApproved) invariant(state.unread.length === 0, "approved on evidence that nobody can read");
        if (isNews && state.status === "COMPLETED" && application.status === "COMPLETED") theirs = state.verdict;
      };

      for (const taken of steps) {
        if (taken.kind === "wait") now = new Date(now.getTime() + taken.hours * 3_600_000);
        if (taken.kind === "hear") {
          last = aState(taken.said);
          applyState(last);
        }
        if (taken.kind === "again") applyState(last);
        if (taken.kind === "crash") {
          Object.assign(Object.create(Object.getPrototypeOf(application)), application).applyState(
            aState(taken.said),
            { at: now },
            now,
            () => {},
          );
        }
        if (taken.kind === "cancel") {
          let refused = false;
          try {
            application.refuseLateCancel();
          } catch {
            refused = true;
          }
          const may = ["CREATED", "OPENED", "FAILED"].includes(application.status);
          invariant(refused !== may, `cancel of ${application.status} was ${refused ? "" : "not "}refused`);
          if (!refused)
            applyState(
              aState({ status: "CANCELED", sequence: application.sequence + 1, attemptsUsed: application.attemptsUsed }),
            );
          if (!refused) invariant(application.status === "CANCELED", "a cancellation the provider confirmed did not count");
        }
        if (taken.kind === "review" && application.awaitsReview()) {
          application.resolveReview(taken.outcome, now, announce);
          personDecided = true;
        }

        const { status, verdict } = application;
        invariant((status === "COMPLETED") === (verdict != null), `${status} with verdict ${verdict}`);
        if (verdict === "APPROVED" && !personDecided) {
          invariant(application.amlHitCount === 0, "a hit was cleared by itself");
          invariant(requireVideo, "approved without a video");
          invariant(application.reasonCodes.length === 0, "approved despite a reason");
          invariant(application.livenessOutcome === "PASSED" && application.faceMatchOutcome === "PASSED", "approved by no face");
          invariant(application.amlDecision === "CLEAR", "approved although not clear");
          invariant(application.documentType != null && application.documentExpiry != null, "approved on no document");
        }
        if (status === "COMPLETED" && !requireVideo) invariant(application.livenessOutcome === "NOT_PERFORMED", "liveness");
        const isOver = application.isFinal() && status !== "EXPIRED" && !application.awaitsReview();
        if (expected !== undefined) invariant(look(application) === expected, `${expected} became ${look(application)}`);
        if (isOver) expected = look(application);
      }
      const ended = log.filter(({ change }) => endings.includes(change));
      const corrected = ended[0]?.change === "KYC_EXPIRED" && ended[1]?.status === "COMPLETED" ? 2 : 1;
      invariant(ended.length <= corrected, "ended twice");
      const approvedOf = log.filter(({ change }) => change === "KYC_COMPLETED");
      invariant(
        approvedOf.every(({ verdict }) => verdict === "APPROVED"),
        "completed without an approval",
      );
    }),
    { numRuns: 3_000 },
  );
});
