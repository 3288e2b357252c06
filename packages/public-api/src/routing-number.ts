/**
 * The first two digits: 00 for the government, 01–12 for the Federal Reserve districts, 21–32 for
 * thrift institutions, 61–72 for electronic transactions, 80 for traveler's cheques.
 */
export const routingNumberPattern = "^(0\\d|1[0-2]|2[1-9]|3[0-2]|6[1-9]|7[0-2]|80)\\d{7}$";

const form = new RegExp(routingNumberPattern);

/**
 * Checks whether a string is a US routing number of the American Bankers Association: nine digits,
 * of which the last is a check digit.
 */
export function isRoutingNumber(text: string): boolean {
  if (!form.test(text) || text === "000000000") return false;
  const sum = [...text].reduce((total, digit, index) => total + Number(digit) * ([3, 7, 1][index % 3] as number), 0);
  return sum % 10 === 0;
}
