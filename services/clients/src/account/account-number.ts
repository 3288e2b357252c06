/** Whose numbers accounts get: three digits of the bank and five of its branch. */
interface Institution {
  readonly bankCode: string;
  readonly branchCode: string;
}

/**
 * The number of an account in RIB form, 20 digits: bank, branch, account, and a key against typing
 * errors (Bank of Algeria, Instruction 06-2004), without the bank. `account`: ten digits, from 1.
 */
export function accountNumber({ bankCode, branchCode }: Institution, account: bigint): string {
  const number = account.toString().padStart(10, "0");
  if (account < 1n || number.length > 10) throw new RangeError(`an account has a number of ten digits, from 1; not ${account}`);
  const key = 97n - ((BigInt(branchCode + number) * 100n) % 97n);
  return `${bankCode}${branchCode}${number}${key.toString().padStart(2, "0")}`;
}
