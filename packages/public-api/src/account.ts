import { type Account, AccountStatus, AccountType } from "@amana/contracts/clients/v1/account_pb";
import { type Static, Type } from "typebox";
import { formatMoney } from "./money.ts";
import { enumNames, isoTimestamp } from "./render.ts";

export const accountTypes = ["CURRENT", "SAVINGS", "ESCROW"] as const;
export const accountStatuses = ["PENDING", "ACTIVE", "SUSPENDED", "CLOSED"] as const;

const accountTypeNames = enumNames(AccountType);
const accountStatusNames = enumNames(AccountStatus);

const amount = () => Type.String({ examples: ["5000.00"] });
const timestamp = () => Type.String({ format: "date-time" });

export const AccountJson = Type.Object({
  id: Type.String({ format: "uuid" }),
  client_id: Type.String({ format: "uuid" }),
  account_name: Type.String({ examples: ["Household"] }),
  account_number: Type.String({ examples: ["00799999002345678941"] }),
  account_type: Type.Enum([...accountTypes]),
  currency: Type.String({ examples: ["DZD"] }),
  current_balance: Type.String({ description: "Always available and reserved balance together.", examples: ["5000.00"] }),
  available_balance: amount(),
  reserved_balance: amount(),
  status: Type.Enum([...accountStatuses]),
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
type AccountJson = Static<typeof AccountJson>;

/** An account as the public API shows it. Amounts have all minor digits of its currency. */
export function renderAccount(account: Account): AccountJson {
  const money = (minor: bigint) => formatMoney(minor, account.currency);
  const optional = <T, J>(value: T | undefined, render: (value: T) => J) => (value === undefined ? undefined : render(value));
  return {
    id: account.id,
    client_id: account.clientId,
    account_name: account.accountName,
    account_number: account.accountNumber,
    account_type: accountTypeNames.get(account.type) as AccountJson["account_type"],
    currency: account.currency,
    current_balance: money(account.currentBalanceMinor),
    available_balance: money(account.availableBalanceMinor),
    reserved_balance: money(account.reservedBalanceMinor),
    status: accountStatusNames.get(account.status) as AccountJson["status"],
    opened_date: isoTimestamp(account.createdAtMs),
    created_at: isoTimestamp(account.createdAtMs),
    updated_at: isoTimestamp(account.updatedAtMs),
    closed_date: optional(account.closedAtMs, isoTimestamp),
    last_activity_date: optional(account.lastActivityAtMs, isoTimestamp),
    daily_limit: optional(account.dailyLimitMinor, money),
    monthly_limit: optional(account.monthlyLimitMinor, money),
    yearly_limit: optional(account.yearlyLimitMinor, money),
    description: account.description,
    external_account_id: account.externalAccountId,
  };
}
