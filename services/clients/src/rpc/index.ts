import { AccountService } from "@amana/contracts/clients/v1/account_service_pb";
import { BeneficiaryService } from "@amana/contracts/clients/v1/beneficiary_service_pb";
import { ClientService } from "@amana/contracts/clients/v1/client_service_pb";
import { OnboardingService } from "@amana/contracts/clients/v1/onboarding_service_pb";
import { type ServedService, serve } from "@amana/rpc";
import type { Context } from "../context.ts";
import { createBeneficiary } from "./create-beneficiary.ts";
import { createOnboardingDetails } from "./create-onboarding-details.ts";
import { createPerson } from "./create-person.ts";
import { decideOnboarding } from "./decide-onboarding.ts";
import { getAccount } from "./get-account.ts";
import { getBeneficiary } from "./get-beneficiary.ts";
import { getClient } from "./get-client.ts";
import { getClientStanding } from "./get-client-standing.ts";
import { getOnboarding } from "./get-onboarding.ts";
import { getOnboardingDetails } from "./get-onboarding-details.ts";
import { listAccounts } from "./list-accounts.ts";
import { listBeneficiaries } from "./list-beneficiaries.ts";
import { listClients } from "./list-clients.ts";
import { activateAccount, closeAccount, reactivateAccount, suspendAccount } from "./move-account.ts";
import { openAccount } from "./open-account.ts";
import { updateAccount } from "./update-account.ts";
import { updateBeneficiary } from "./update-beneficiary.ts";
import { updateOnboardingDetails } from "./update-onboarding-details.ts";
import { updatePerson } from "./update-person.ts";

export const rpcServices = (context: Context): ServedService[] => [
  serve(ClientService, {
    createPerson: createPerson(context),
    getClient: getClient(context),
    listClients: listClients(context),
    updatePerson: updatePerson(context),
    getClientStanding: getClientStanding(context),
  }),
  serve(OnboardingService, {
    createOnboardingDetails: createOnboardingDetails(context),
    getOnboardingDetails: getOnboardingDetails(context),
    updateOnboardingDetails: updateOnboardingDetails(context),
    getOnboarding: getOnboarding(context),
    decideOnboarding: decideOnboarding(context),
  }),
  serve(BeneficiaryService, {
    createBeneficiary: createBeneficiary(context),
    getBeneficiary: getBeneficiary(context),
    listBeneficiaries: listBeneficiaries(context),
    updateBeneficiary: updateBeneficiary(context),
  }),
  serve(AccountService, {
    openAccount: openAccount(context),
    getAccount: getAccount(context),
    listAccounts: listAccounts(context),
    updateAccount: updateAccount(context),
    activateAccount: activateAccount(context),
    suspendAccount: suspendAccount(context),
    reactivateAccount: reactivateAccount(context),
    closeAccount: closeAccount(context),
  }),
];
