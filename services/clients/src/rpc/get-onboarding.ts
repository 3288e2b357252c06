import type { OnboardingService } from "@amana/contracts/clients/v1/onboarding_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import { clientNotFound } from "../client/client.errors.ts";
import type { Context } from "../context.ts";
import { toOnboardingMessage } from "../onboarding/onboarding.message.ts";
import { Onboarding } from "../onboarding/onboarding.ts";

export const getOnboarding =
  ({ orm }: Context): Implementation<typeof OnboardingService.method.getOnboarding> =>
  async ({ clientId }, { caller }) => {
    const businessId = businessOf(caller);
    const onboarding = isUuid(clientId) ? await orm.em.fork().findOne(Onboarding, { businessId, clientId }) : null;
    if (!onboarding) throw clientNotFound();
    return toOnboardingMessage(onboarding);
  };
