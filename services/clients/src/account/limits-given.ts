import { isMoneyText, parseMoney } from "@amana/public-api";
import { accountLimitInvalid } from "./account.errors.ts";
import { type AccountLimits, limitNames } from "./account.ts";

/** Limits as requests write them: decimal texts, and the names of those that are cleared. */
interface LimitTexts {
  readonly dailyLimit?: string | undefined;
  readonly monthlyLimit?: string | undefined;
  readonly yearlyLimit?: string | undefined;
  readonly cleared?: readonly string[];
}

/** The limits of a request in minor units of the account's currency; those that it does not name are left out. */
export function limitsGiven(request: LimitTexts, currency: string): AccountLimits {
  const texts = {
    dailyLimitMinor: request.dailyLimit,
    monthlyLimitMinor: request.monthlyLimit,
    yearlyLimitMinor: request.yearlyLimit,
  };
  const limits: AccountLimits = {};
  for (const [column, name] of limitNames) {
    const text = texts[column];
    if (request.cleared?.includes(name)) limits[column] = null;
    else if (text !== undefined && !isMoneyText(text)) throw accountLimitInvalid(name);
    else if (text !== undefined) limits[column] = parseMoney(text, currency);
  }
  return limits;
}
