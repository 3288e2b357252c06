import { OnboardingSchema } from "@amana/contracts/clients/v1/onboarding_pb";
import { OnboardingDecision, type OnboardingService } from "@amana/contracts/clients/v1/onboarding_service_pb";
import { allBusinesses } from "@amana/database";
import { once } from "@amana/idempotency";
import { type Implementation, requestedName, requireAdmin } from "@amana/rpc";
import type { Context } from "../context.ts";
import { applyDecision } from "../onboarding/apply-decision.ts";
import { lockOnboarding } from "../onboarding/lock-onboarding.ts";
import { onboardingDecisionUnknown } from "../onboarding/onboarding.errors.ts";
import { toOnboardingMessage } from "../onboarding/onboarding.message.ts";

export const decideOnboarding =
  ({ orm, clock }: Context): Implementation<typeof OnboardingService.method.decideOnboarding> =>
  async (request, call) => {
    requireAdmin(call.caller);
    const decision = requestedName(OnboardingDecision, request.decision);
    if (!decision) throw onboardingDecisionUnknown();
    return await once(orm, call, OnboardingSchema, async (em) => {
      const { client, onboarding } = await lockOnboarding(em, allBusinesses, request.clientId);
      const now = clock.now();
      applyDecision(em, onboarding, decision, now, { call, reason: request.reason });
      client.setKycStatus(onboarding.kycStatus, now);
      return toOnboardingMessage(onboarding);
    });
  };
