import { ApiKeySchema } from "@amana/contracts/identity/v1/api_key_pb";
import { ListApiKeysRequestSchema } from "@amana/contracts/identity/v1/api_key_service_pb";
import { ListOwnApiKeysRequestSchema } from "@amana/contracts/identity/v1/business_service_pb";
import { defineList, defineView, type RowOf } from "@amana/database";
import { ApiKey } from "./api-key.ts";

const apiKeyView = defineView(ApiKey, ApiKeySchema);

/**
 * Returns the RPC message of an API key. Only the response that issues the key may contain
 * `plaintext`.
 */
export const toApiKeyMessage = (key: RowOf<typeof apiKeyView>, plaintext?: string) =>
  apiKeyView.toMessage(key, { apiKey: plaintext });

export const apiKeyList = defineList(apiKeyView, ListApiKeysRequestSchema, {});
export const ownApiKeyList = defineList(apiKeyView, ListOwnApiKeysRequestSchema, {});
