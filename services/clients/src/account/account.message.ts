import { AccountSchema } from "@amana/contracts/clients/v1/account_pb";
import { ListAccountsRequestSchema } from "@amana/contracts/clients/v1/account_service_pb";
import { defineList, defineView } from "@amana/database";
import { Account } from "./account.ts";

export const accountView = defineView(Account, AccountSchema);
export const toAccountMessage = accountView.toMessage;

export const accountList = defineList(
  accountView,
  ListAccountsRequestSchema,
  { search: { contains: "search_text", spaceless: "account_number" } },
  { lookUpIn: "account_of_tenants" },
);
