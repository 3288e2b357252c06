/**
 * Federal Reserve districts 01–12, their thrift institutions 21–32, electronic transactions 61–72,
 * the government 00, cheques 80.
 */
export const routingNumberPattern = "^(0\\d|1[0-2]|2[1-9]|3[0-2]|6[1-9]|7[0-2]|80)\\d{7}$";

const form = new RegExp(routingNumberPattern);

/**
 * Whether a text is a US routing number of the American Bankers Association: nine digits, the last
 * of which checks the others.
 */
export function isRoutingNumber(text: string): boolean {
  if (!form.test(text) || text === "000000000") return false;
  const sum = [...text].reduce((total, digit, at) => total + Number(digit) * ([3, 7, 1][at % 3] as number), 0);
  return sum % 10 === 0;
}
