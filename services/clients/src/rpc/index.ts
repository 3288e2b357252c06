export { activateAccount, closeAccount, reactivateAccount, suspendAccount } from "./change-account-status.ts";
export { createBeneficiary } from "./create-beneficiary.ts";
export { createOnboardingDetails } from "./create-onboarding-details.ts";
export { createPerson } from "./create-person.ts";
export { decideOnboarding } from "./decide-onboarding.ts";
export { openAccount } from "./open-account.ts";
export {
  getAccount,
  getBeneficiary,
  getClient,
  getClientStanding,
  getOnboarding,
  getOnboardingDetails,
  listAccounts,
  listBeneficiaries,
  listClients,
} from "./reads.ts";
export { updateAccount } from "./update-account.ts";
export { updateBeneficiary } from "./update-beneficiary.ts";
export { updateOnboardingDetails } from "./update-onboarding-details.ts";
export { updatePerson } from "./update-person.ts";
