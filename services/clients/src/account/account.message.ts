import {
  type Account as AccountMessage,
  AccountSchema,
  AccountStatus,
  AccountType,
} from "@amana/contracts/clients/v1/account_pb";
import { create } from "@bufbuild/protobuf";
import type { Account } from "./account.ts";

/** The columns of an account that readers see, from the entity or straight from SQL, where numbers and times come as text. */
export type AccountColumns = {
  [K in keyof Account as K extends "version" | `used${string}`
    ? never
    : Account[K] extends (...parameters: never[]) => unknown
      ? never
      : K]: Account[K] | (bigint extends Account[K] ? string : never) | (Date extends Account[K] ? string : never);
};

export function toAccountMessage(account: AccountColumns): AccountMessage {
  return create(AccountSchema, {
    id: account.id,
    businessId: account.businessId,
    clientId: account.clientId,
    accountName: account.accountName,
    accountNumber: account.accountNumber,
    type: AccountType[account.type],
    currency: account.currency,
    currentBalanceMinor: BigInt(account.currentBalanceMinor),
    availableBalanceMinor: BigInt(account.availableBalanceMinor),
    reservedBalanceMinor: BigInt(account.reservedBalanceMinor),
    status: AccountStatus[account.status],
    createdAtMs: milliseconds(account.createdAt) ?? 0n,
    updatedAtMs: milliseconds(account.updatedAt) ?? 0n,
    closedAtMs: milliseconds(account.closedAt),
    lastActivityAtMs: milliseconds(account.lastActivityAt),
    dailyLimitMinor: minor(account.dailyLimitMinor),
    monthlyLimitMinor: minor(account.monthlyLimitMinor),
    yearlyLimitMinor: minor(account.yearlyLimitMinor),
    description: account.description ?? undefined,
    externalAccountId: account.externalAccountId ?? undefined,
  });
}

const milliseconds = (time: Date | string | null | undefined) => (time == null ? undefined : BigInt(new Date(time).getTime()));
const minor = (amount: bigint | string | null | undefined) => (amount == null ? undefined : BigInt(amount));
