import { isMoneyText, parseMoney } from "@amana/public-api";
import { accountLimitInvalid } from "./account.errors.ts";
import { type AccountLimits, limitPeriods } from "./limit-use.ts";

/** Limits as requests write them: decimal texts, and the names of those that are cleared. */
type LimitTexts = { readonly [T in (typeof limitPeriods)[number]["text"]]?: string | undefined } & {
  readonly cleared?: readonly string[];
};

/** The limits that a request names, in minor units of the account's currency. */
export function limitsGiven(request: LimitTexts, currency: string): AccountLimits {
  const limits: AccountLimits = {};
  for (const { text, limit, name } of limitPeriods) {
    const given = request[text];
    if (request.cleared?.includes(name)) limits[limit] = null;
    else if (given !== undefined && !isMoneyText(given)) throw accountLimitInvalid(name);
    else if (given !== undefined) limits[limit] = parseMoney(given, currency);
  }
  return limits;
}
