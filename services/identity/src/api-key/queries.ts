import { ListApiKeysRequestSchema } from "@amana/contracts/identity/v1/api_key_service_pb";
import { ListOwnApiKeysRequestSchema } from "@amana/contracts/identity/v1/business_service_pb";
import { defineList } from "@amana/database";
import { apiKeyView } from "./api-key.message.ts";

export const apiKeyList = defineList(apiKeyView, ListApiKeysRequestSchema, {});
export const ownApiKeyList = defineList(apiKeyView, ListOwnApiKeysRequestSchema, {});
