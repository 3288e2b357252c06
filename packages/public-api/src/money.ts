/** Decimal digits of each currency's minor unit (ISO 4217). Intl's may change with ICU. */
export const currencyExponents: Readonly<Record<string, number>> = { DZD: 2, EUR: 2, USD: 2 };

const moneyPattern = /^\d{1,15}(\.\d{1,2})?$/;

/** Whether a text is an amount as the API accepts it: digits, at most two decimals, no sign. */
export function isMoneyText(text: string): boolean {
  return moneyPattern.test(text);
}

/** "5000.5" → 500050n minor units. Throws for a text that `isMoneyText` does not accept. */
export function parseMoney(text: string, currency: string): bigint {
  if (!isMoneyText(text)) throw new TypeError("not an amount");
  const exponent = exponentOf(currency);
  const [whole = "0", fraction = ""] = text.split(".");
  return BigInt(whole + fraction.padEnd(exponent, "0"));
}

/** 500050n → "5000.50", with all of the currency's minor digits. */
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
