import { type ClientService, ClientStanding } from "@amana/contracts/clients/v1/client_service_pb";
import type { OnboardingService } from "@amana/contracts/clients/v1/onboarding_service_pb";
import type { Owner } from "@amana/database";
import { type Implementation, requireBusiness } from "@amana/rpc";
import { forTenant, isUuid } from "@amana/runtime";
import { createGetRpc, createListRpc } from "@amana/service-host";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { accountNotFound } from "../account/account.errors.ts";
import { accountList, accountView, toAccountMessage } from "../account/account.message.ts";
import { beneficiaryNotFound } from "../beneficiary/beneficiary.errors.ts";
import { beneficiaryList, beneficiaryView, toBeneficiaryMessage } from "../beneficiary/beneficiary.message.ts";
import { clientNotFound, referencedClientNotFound } from "../client/client.errors.ts";
import { clientList, clientView, toClientMessage } from "../client/client.message.ts";
import type { Context } from "../context.ts";
import { onboardingDetailsNotFound } from "../onboarding/onboarding.errors.ts";
import { toDetailsMessage, toOnboardingMessage } from "../onboarding/onboarding.message.ts";
import { Onboarding } from "../onboarding/onboarding.ts";
import { OnboardingDetails } from "../onboarding/onboarding-details.ts";

export const getClient = createGetRpc(clientView, toClientMessage, clientNotFound);
export const getBeneficiary = createGetRpc(beneficiaryView, toBeneficiaryMessage, beneficiaryNotFound);
export const getAccount = createGetRpc(accountView, toAccountMessage, accountNotFound);

/**
 * Throws `client_not_found` if a list filter contains a client id that no client of the business
 * has.
 */
async function checkClientId(em: SqlEntityManager, owner: Owner, { clientId }: { clientId?: string }): Promise<void> {
  if (clientId !== undefined && !(await clientView.read(em, owner, clientId))) throw referencedClientNotFound("");
}

export const listClients = createListRpc(clientList, "clients", toClientMessage);
export const listBeneficiaries = createListRpc(beneficiaryList, "beneficiaries", toBeneficiaryMessage, { check: checkClientId });
export const listAccounts = createListRpc(accountList, "accounts", toAccountMessage, { check: checkClientId });

export const getClientStanding =
  ({ orm }: Context): Implementation<typeof ClientService.method.getClientStanding> =>
  async ({ businessId, clientId }, { caller }) => {
    const isPermitted = caller.role === "platform" || requireBusiness(caller) === businessId;
    const readClient = () => clientView.read(orm.em, businessId, clientId);
    // A service that calls this RPC has the role `platform`, which is not a tenant. The query
    // therefore runs as the tenant `businessId` of the request.
    const client = isPermitted && isUuid(businessId) ? await forTenant(businessId, readClient) : undefined;
    if (!client) return { standing: ClientStanding.UNKNOWN };
    return { standing: client.blocked ? ClientStanding.BLOCKED : ClientStanding.GOOD };
  };

async function readOnboarding(em: SqlEntityManager, businessId: string, clientId: string): Promise<Onboarding> {
  const onboarding = isUuid(clientId) ? await em.findOne(Onboarding, { businessId, clientId }) : null;
  if (!onboarding) throw clientNotFound();
  return onboarding;
}

export const getOnboarding =
  ({ orm }: Context): Implementation<typeof OnboardingService.method.getOnboarding> =>
  async ({ clientId }, { caller }) =>
    toOnboardingMessage(await readOnboarding(orm.em.fork(), requireBusiness(caller), clientId));

export const getOnboardingDetails =
  ({ orm }: Context): Implementation<typeof OnboardingService.method.getOnboardingDetails> =>
  async ({ clientId }, { caller }) => {
    const businessId = requireBusiness(caller);
    const em = orm.em.fork();
    const onboarding = await readOnboarding(em, businessId, clientId);
    const details = await em.findOne(OnboardingDetails, { businessId, clientId });
    if (!details) throw onboardingDetailsNotFound();
    return toDetailsMessage(details, onboarding);
  };
