import { byCaller, byPlatform, recordAction } from "@amana/messaging";
import type { Call } from "@amana/rpc";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import type { Decision, Onboarding } from "./onboarding.ts";

/**
 * Decides an onboarding and records the decision in the audit trail. If `by` is undefined, the
 * platform is recorded as the actor.
 */
export function applyDecision(
  em: SqlEntityManager,
  onboarding: Onboarding,
  decision: Decision,
  now: Date,
  by?: { call: Call; reason?: string },
): void {
  const readAuditFields = () => ({ client_id: onboarding.clientId, current_step: onboarding.step });
  const before = readAuditFields();
  onboarding.decide(decision, now);
  recordAction("clients")(em, now, {
    by: by ? byCaller(by.call) : byPlatform,
    action: `onboarding.${decision.toLowerCase()}`,
    entity: { type: "onboarding", id: onboarding.id },
    businessId: onboarding.businessId,
    before,
    after: readAuditFields(),
    reason: by?.reason,
  });
}

/** Approves an onboarding at the step PENDING_APPROVAL if `ONBOARDING_AUTO_APPROVE` is true. */
export function approveAutomatically(em: SqlEntityManager, { autoApprove }: Context, onboarding: Onboarding, now: Date): void {
  if (autoApprove && onboarding.awaitsApproval()) applyDecision(em, onboarding, "APPROVED", now);
}
