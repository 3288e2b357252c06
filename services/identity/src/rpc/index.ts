import { ApiKeyService } from "@amana/contracts/identity/v1/api_key_service_pb";
import { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { KeyLeaseService } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { type ServedService, serve } from "@amana/rpc";
import type { Context } from "../context.ts";
import { createApiKey } from "./create-api-key.ts";
import { createBusiness } from "./create-business.ts";
import { getBusiness } from "./get-business.ts";
import { getOwnBusiness } from "./get-own-business.ts";
import { listApiKeys } from "./list-api-keys.ts";
import { listBusinesses } from "./list-businesses.ts";
import { listOwnApiKeys } from "./list-own-api-keys.ts";
import { resolveKeys } from "./resolve-keys.ts";
import { revokeApiKey } from "./revoke-api-key.ts";
import { updateBusiness } from "./update-business.ts";
import { updateOwnBusiness } from "./update-own-business.ts";

export const rpcServices = (context: Context): ServedService[] => [
  serve(BusinessService, {
    createBusiness: createBusiness(context),
    getBusiness: getBusiness(context),
    listBusinesses: listBusinesses(context),
    updateBusiness: updateBusiness(context),
    getOwnBusiness: getOwnBusiness(context),
    updateOwnBusiness: updateOwnBusiness(context),
    listOwnApiKeys: listOwnApiKeys(context),
  }),
  serve(ApiKeyService, {
    createApiKey: createApiKey(context),
    listApiKeys: listApiKeys(context),
    revokeApiKey: revokeApiKey(context),
  }),
  serve(KeyLeaseService, {
    resolveKeys: resolveKeys(context),
  }),
];
