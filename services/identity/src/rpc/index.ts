export { createApiKey, createLimitedApiKey, createOwnApiKey } from "./create-api-key.ts";
export { createBusiness } from "./create-business.ts";
export { createOperatorKey } from "./create-operator-key.ts";
export { getBusiness, getOwnBusiness, listApiKeys, listBusinesses, listOperatorKeys, listOwnApiKeys } from "./reads.ts";
export { resolveKeys } from "./resolve-keys.ts";
export { revokeApiKey, revokeOwnApiKey } from "./revoke-api-key.ts";
export { revokeOperatorKey } from "./revoke-operator-key.ts";
export { updateBusiness } from "./update-business.ts";
export { updateOwnBusiness } from "./update-own-business.ts";
