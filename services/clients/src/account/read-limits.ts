import { isMoneyText, parseMoney } from "@amana/public-api";
import { accountLimitInvalid } from "./account.errors.ts";
import { type AccountLimits, limitPeriods } from "./limit-use.ts";

/**
 * Limits in a request, as decimal texts. `cleared` contains the public names of fields to clear.
 */
type LimitTexts = { readonly [T in (typeof limitPeriods)[number]["text"]]?: string } & {
  readonly cleared?: readonly string[];
};

/**
 * Returns the limits in a request as minor units of the currency. A cleared limit is null. Throws
 * `account_limit_invalid` for a text that is not an amount.
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
