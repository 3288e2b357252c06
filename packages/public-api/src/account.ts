import { AccountSchema, AccountStatus, AccountType } from "@amana/contracts/clients/v1/account_pb";
import { enumNames } from "@amana/contracts/enum-names";
import { Type } from "typebox";
import { createRenderer } from "./renderer.ts";

export const accountTypes = enumNames(AccountType);
export const accountStatuses = enumNames(AccountStatus);

const amount = (description: string) => Type.String({ description, examples: ["5000.00"] });
const limit = (period: string) => Type.Optional(amount(`Maximum sum of outgoing amounts in a ${period} (UTC).`));
const timestamp = () => Type.String({ format: "date-time" });

export const AccountJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  client_id: Type.String({ format: "uuid" }),
  account_name: Type.String({ examples: ["Household"] }),
  account_number: Type.String({ examples: ["00799999002345678941"] }),
  account_type: Type.Enum(accountTypes),
  currency: Type.String({ description: "Currency of all amounts (ISO 4217).", examples: ["DZD"] }),
  current_balance: amount("Sum of the available and the reserved balance."),
  available_balance: amount("Balance that can be spent."),
  reserved_balance: amount("Balance that is reserved by open holds."),
  status: Type.Enum(accountStatuses),
  opened_date: timestamp(),
  created_at: timestamp(),
  updated_at: timestamp(),
  closed_date: Type.Optional(timestamp()),
  last_activity_date: Type.Optional(timestamp()),
  daily_limit: limit("day"),
  monthly_limit: limit("month"),
  yearly_limit: limit("year"),
  description: Type.Optional(Type.String()),
  external_account_id: Type.Optional(Type.String({ description: "Your own identifier of the account." })),
});

/** Renders an account as public JSON. */
export const renderAccount = createRenderer(AccountSchema, AccountJson, {
  account_type: "type",
  opened_date: "created_at",
  closed_date: "closed_at",
  last_activity_date: "last_activity_at",
});
