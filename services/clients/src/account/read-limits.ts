import { isMoneyText, parseMoney } from "@amana/public-api";
import { accountLimitInvalid } from "./account.errors.ts";
import { type AccountLimits, limitPeriods } from "./limit-use.ts";

/** Limits in a request: decimal texts, and the names of cleared limits. */
type LimitTexts = { readonly [T in (typeof limitPeriods)[number]["text"]]?: string | undefined } & {
  readonly cleared?: readonly string[];
};

/**
 * Returns the limits of a request in minor units of the currency. Throws `account_limit_invalid`
 * for a text that is not an amount.
 */
export function readLimits(request: LimitTexts, currency: string): AccountLimits {
  const limits: AccountLimits = {};
  for (const { text, limit, name } of limitPeriods) {
    const value = request[text];
    if (request.cleared?.includes(name)) limits[limit] = null;
    else if (value !== undefined && !isMoneyText(value)) throw accountLimitInvalid(name);
    else if (value !== undefined) limits[limit] = parseMoney(value, currency);
  }
  return limits;
}
