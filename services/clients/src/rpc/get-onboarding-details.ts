import type { OnboardingService } from "@amana/contracts/clients/v1/onboarding_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { isUuid } from "@amana/runtime";
import { clientNotFound } from "../client/client.errors.ts";
import type { Context } from "../context.ts";
import { onboardingDetailsNotFound } from "../onboarding/onboarding.errors.ts";
import { toDetailsMessage } from "../onboarding/onboarding.message.ts";
import { Onboarding } from "../onboarding/onboarding.ts";
import { OnboardingDetails } from "../onboarding/onboarding-details.ts";

export const getOnboardingDetails =
  ({ orm }: Context): Implementation<typeof OnboardingService.method.getOnboardingDetails> =>
  async ({ clientId }, { caller }) => {
    const businessId = businessOf(caller);
    if (!isUuid(clientId)) throw clientNotFound();
    const em = orm.em.fork();
    const onboarding = await em.findOne(Onboarding, { businessId, clientId });
    if (!onboarding) throw clientNotFound();
    const details = await em.findOne(OnboardingDetails, { businessId, clientId });
    if (!details) throw onboardingDetailsNotFound();
    return toDetailsMessage(details, onboarding);
  };
