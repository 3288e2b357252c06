import { AccountSchema } from "@amana/contracts/clients/v1/account_pb";
import { defineView } from "@amana/database";
import { Account } from "./account.ts";

export const accountView = defineView(Account, AccountSchema);
export const toAccountMessage = accountView.toMessage;
