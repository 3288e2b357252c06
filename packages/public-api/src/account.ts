import { AccountSchema, AccountStatus, AccountType } from "@amana/contracts/clients/v1/account_pb";
import { enumNames } from "@amana/contracts/enum-names";
import { Type } from "typebox";
import { renderer } from "./renderer.ts";

export const accountTypes = enumNames(AccountType);
export const accountStatuses = enumNames(AccountStatus);

const amount = () => Type.String({ examples: ["5000.00"] });
const timestamp = () => Type.String({ format: "date-time" });

export const AccountJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  client_id: Type.String({ format: "uuid" }),
  account_name: Type.String({ examples: ["Household"] }),
  account_number: Type.String({ examples: ["00799999002345678941"] }),
  account_type: Type.Enum(accountTypes),
  currency: Type.String({ examples: ["DZD"] }),
  current_balance: Type.String({ description: "Always available and reserved balance together.", examples: ["5000.00"] }),
  available_balance: amount(),
  reserved_balance: amount(),
  status: Type.Enum(accountStatuses),
  opened_date: timestamp(),
  created_at: timestamp(),
  updated_at: timestamp(),
  closed_date: Type.Optional(timestamp()),
  last_activity_date: Type.Optional(timestamp()),
  daily_limit: Type.Optional(amount()),
  monthly_limit: Type.Optional(amount()),
  yearly_limit: Type.Optional(amount()),
  description: Type.Optional(Type.String()),
  external_account_id: Type.Optional(Type.String()),
});

/** An account as the public API shows it. */
export const renderAccount = renderer(AccountSchema, AccountJson, {
  account_type: "type",
  opened_date: "created_at",
  closed_date: "closed_at",
  last_activity_date: "last_activity_at",
});
