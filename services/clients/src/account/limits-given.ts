import { isMoneyText, parseMoney } from "@amana/public-api";
import { accountLimitInvalid } from "./account.errors.ts";
import type { AccountChanges } from "./account.ts";

/** Limits as requests write them: decimal texts, null for one that is cleared. */
export interface LimitTexts {
  readonly dailyLimit?: string | null | undefined;
  readonly monthlyLimit?: string | null | undefined;
  readonly yearlyLimit?: string | null | undefined;
}

/** The limits of a request in minor units of the account's currency; those that it does not name are left out. */
export function limitsGiven({ dailyLimit, monthlyLimit, yearlyLimit }: LimitTexts, currency: string): AccountChanges {
  return {
    ...(dailyLimit !== undefined && { dailyLimitMinor: minor("daily_limit", dailyLimit, currency) }),
    ...(monthlyLimit !== undefined && { monthlyLimitMinor: minor("monthly_limit", monthlyLimit, currency) }),
    ...(yearlyLimit !== undefined && { yearlyLimitMinor: minor("yearly_limit", yearlyLimit, currency) }),
  };
}

function minor(name: string, text: string | null, currency: string): bigint | null {
  if (text === null) return null;
  if (!isMoneyText(text)) throw accountLimitInvalid(name);
  return parseMoney(text, currency);
}
