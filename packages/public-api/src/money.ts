/**
 * Decimal digits of each currency (ISO 4217). Intl is not used, because its data changes with ICU.
 */
export const currencyExponents: Readonly<Record<string, number>> = { DZD: 2, EUR: 2, USD: 2 };

const moneyPattern = /^\d{1,15}(\.\d{1,2})?$/;

/** Checks whether a string is an amount of the API: digits, at most two decimals, no sign. */
export function isMoneyText(text: string): boolean {
  return moneyPattern.test(text);
}

/** Converts "5000.5" to 500050n minor units. Throws a TypeError when `isMoneyText` is false. */
export function parseMoney(text: string, currency: string): bigint {
  if (!isMoneyText(text)) throw new TypeError("not an amount: expected digits with at most two decimals");
  const exponent = exponentOf(currency);
  const [whole = "0", fraction = ""] = text.split(".");
  return BigInt(whole + fraction.padEnd(exponent, "0"));
}

/** Converts 500050n minor units to "5000.50", with all decimals of the currency. */
export function formatMoney(amountMinor: bigint, currency: string): string {
  const exponent = exponentOf(currency);
  const digits = amountMinor
    .toString()
    .replace("-", "")
    .padStart(exponent + 1, "0");
  const sign = amountMinor < 0n ? "-" : "";
  return exponent === 0 ? sign + digits : `${sign}${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
}

function exponentOf(currency: string): number {
  const exponent = Object.hasOwn(currencyExponents, currency) ? currencyExponents[currency] : undefined;
  if (exponent === undefined) throw new TypeError(`unknown currency ${currency}`);
  return exponent;
}
