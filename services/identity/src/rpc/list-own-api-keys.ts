import { readPage } from "@amana/service";
import { toApiKeyMessage } from "../api-key/api-key.message.ts";
import { apiKeyList } from "../api-key/queries.ts";

export const listOwnApiKeys = readPage(apiKeyList, "apiKeys", toApiKeyMessage);
