export { createApiKey, createLimitedApiKey, createOwnApiKey } from "./create-api-key.ts";
export { createBusiness } from "./create-business.ts";
export { createInvitation } from "./create-invitation.ts";
export { createOperatorKey } from "./create-operator-key.ts";
export { drawTokens } from "./draw-tokens.ts";
export { onboardBusiness, resolveInvitation } from "./onboard-business.ts";
export {
  getBusiness,
  getOwnBusiness,
  listApiKeys,
  listAuditEvents,
  listBusinesses,
  listInvitations,
  listOperatorKeys,
  listOwnApiKeys,
} from "./reads.ts";
export { resolveBusiness } from "./resolve-business.ts";
export { resolveKeys } from "./resolve-keys.ts";
export { revokeApiKey, revokeOwnApiKey } from "./revoke-api-key.ts";
export { revokeInvitation } from "./revoke-invitation.ts";
export { revokeOperatorKey } from "./revoke-operator-key.ts";
export { updateBusiness } from "./update-business.ts";
export { updateOwnBusiness } from "./update-own-business.ts";
