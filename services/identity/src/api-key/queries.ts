import { ListOwnApiKeysRequestSchema } from "@amana/contracts/identity/v1/business_service_pb";
import { defineList } from "@amana/database";
import { apiKeyView } from "./api-key.message.ts";

/** A business's keys, whoever asks. */
export const apiKeyList = defineList(apiKeyView, ListOwnApiKeysRequestSchema, {});
