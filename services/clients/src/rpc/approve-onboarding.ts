import { OnboardingSchema } from "@amana/contracts/clients/v1/onboarding_pb";
import type { OnboardingService } from "@amana/contracts/clients/v1/onboarding_service_pb";
import { once } from "@amana/idempotency";
import { adminOf, type Implementation } from "@amana/rpc";
import { clientNotFound } from "../client/client.errors.ts";
import type { Context } from "../context.ts";
import { lockBoth } from "../onboarding/lock-onboarding.ts";
import { decide } from "../onboarding/onboarding.events.ts";
import { toOnboardingMessage } from "../onboarding/onboarding.message.ts";

export const approveOnboarding =
  ({ orm, clock }: Context): Implementation<typeof OnboardingService.method.approveOnboarding> =>
  async (request, call) => {
    adminOf(call.caller);
    return await once(orm, call, OnboardingSchema, async (em) => {
      const found = await lockBoth(em, request.clientId);
      if (!found) throw clientNotFound();
      const { client, onboarding } = found;
      const now = clock.now();
      decide(em, onboarding, "APPROVED", now, { call });
      client.verificationIs(onboarding.kycStatus, now);
      return toOnboardingMessage(onboarding);
    });
  };
