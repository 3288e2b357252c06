import { ListAccountsRequestSchema } from "@amana/contracts/clients/v1/account_service_pb";
import { defineList, type Tally } from "@amana/database";
import { accountView } from "./account.message.ts";

export const accountTally: Tally = { table: "account", dimensions: ["type", "status", "currency"] };

export const accountList = defineList(
  accountView,
  ListAccountsRequestSchema,
  { search: { contains: "search_text", spaceless: "account_number" } },
  accountTally,
);
