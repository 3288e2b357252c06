/** Codes of the bank (three digits) and of the branch (five digits) in an account number. */
interface Institution {
  readonly bankCode: string;
  readonly branchCode: string;
}

/**
 * Returns the 20-digit account number in RIB form: bank code, branch code, account, and a two-digit
 * key that detects typing errors. The key is computed from branch code and account (Bank of
 * Algeria, Instruction 06-2004). Throws a `RangeError` if `account` is not from 1 to 9999999999.
 */
export function buildAccountNumber({ bankCode, branchCode }: Institution, account: bigint): string {
  const number = account.toString().padStart(10, "0");
  if (account < 1n || number.length > 10) throw new RangeError(`account must be from 1 to 9999999999, not ${account}`);
  const key = 97n - ((BigInt(branchCode + number) * 100n) % 97n);
  return `${bankCode}${branchCode}${number}${key.toString().padStart(2, "0")}`;
}
